package openmpi

import (
	"fmt"
	"slices"
	"strconv"

	"tutti/coll"
	"tutti/mpi"
)

// Force implements mpi.Measurable with the component coll/tuned. Parameters without a value in the candidate
// are 0, as in a rules file. The component itself has other defaults for forced algorithms.
//
// For the default, dynamic rules must be as the site has them. The library reads this setting in MPI_Init only, so
// the default has its own settings for the start (Forcing.Base). All other candidates start with the site's settings
// turned off: a rules file of 4.1, for example, outranks a forced algorithm.
func (library) Force(cat *mpi.Catalogue, c coll.Candidate) (mpi.Forcing, error) {
	if c.Algorithm.IsDefault() {
		return mpi.Forcing{NewComm: true}, nil
	}
	f, err := force(cat, c)
	off := cat.Site.Neutral(func(mpi.SiteSetting) bool { return false })
	f.Base, f.Env = slices.Concat(off, f.Base), slices.Concat(off, f.Env)
	return f, err
}

func force(cat *mpi.Catalogue, c coll.Candidate) (mpi.Forcing, error) {
	e, err := cat.Lookup(c.Collective, c.Algorithm)
	if err != nil {
		return mpi.Forcing{}, err
	}
	if isHan(e.ID) {
		return forceHan(cat, e, c)
	}
	prefix := "coll_tuned_" + string(c.Collective) + "_algorithm"
	switches := []mpi.Switch{{Name: prefix, Value: e.ID}}
	for _, param := range tunedParams(c.Collective, cat.Entries(c.Collective)) {
		value := 0
		if text, ok := c.Algorithm.Param(param.name); ok {
			if value, err = strconv.Atoi(text); err != nil || value < 0 {
				return mpi.Forcing{}, fmt.Errorf("%v: %w: parameter %s=%s: want a whole number", c, mpi.ErrInfeasible, param.name, text)
			}
		}
		switches = append(switches, mpi.Switch{Name: prefix + param.suffix, Value: value})
	}
	f := newForcing(append([]mpi.Setting{dynamicRules}, disable(componentsAbove)...), switches)
	f.Function = functionOf(c.Collective, e)
	if c.Collective == coll.Allgatherv {
		// Dynamic rules cannot be changed after MPI_Init (MPI_T_cvar_write of 4.1.4 returns
		// MPI_T_ERR_CVAR_SET_NEVER), so each algorithm needs a launch of its own.
		f.Base = slices.Clone(f.Env)
	}
	return f, nil
}

// newForcing returns a Forcing with the given switches. `base` has settings that a program needs
// at its start so that it can write the switches.
func newForcing(base []mpi.Setting, switches []mpi.Switch) mpi.Forcing {
	f := mpi.Forcing{Switches: switches, NewComm: true}
	for _, s := range base {
		f.Base = append(f.Base, mpi.Var{Name: s.Name, Value: s.Value})
	}
	f.Env = slices.Clone(f.Base)
	for _, s := range switches {
		f.Env = append(f.Env, mpi.Var{Name: mcaPrefix + s.Name, Value: strconv.Itoa(s.Value)})
	}
	return f
}

const mcaPrefix = "OMPI_MCA_"

// dynamicRules is the setting that makes the component coll/tuned use forced algorithms and rules files.
var dynamicRules = mpi.Setting{Name: mcaPrefix + "coll_tuned_use_dynamic_rules", Value: "1"}

// componentsAbove lists the components that can have a higher priority than coll/tuned for the collectives of
// whole programs. A component is off if its parameter has the value 0. The list omits coll/cuda, which forwards
// calls with buffers in main memory to coll/tuned. Programs need coll/cuda for other buffers. The list of
// components itself (OMPI_MCA_coll) is the user's setting, and stays unchanged.
var componentsAbove = []component{
	{"hcoll", "enable"}, {"ucc", "enable"}, {"acoll", "priority"}, {"adapt", "priority"}, {"han", "priority"}, {"sm", "priority"}, {"xhc", "priority"},
}

// component has the name of a part of Open MPI, such as han, and the parameter that turns this part off.
type component struct{ component, parameter string }

// disable returns the settings that turn off components. If the release does not have a component, its
// setting has no effect.
func disable(components []component) []mpi.Setting {
	var out []mpi.Setting
	for _, r := range components {
		out = append(out, mpi.Setting{Name: mcaPrefix + "coll_" + r.component + "_" + r.parameter, Value: "0"})
	}
	return out
}

// tunedParam is a parameter of the catalogue. The name of its control variable consists of the collective's
// name and the suffix.
type tunedParam struct{ name, suffix string }

// tunedParams returns those parameters of a collective's algorithms for which Open MPI has a control
// variable. For an allgather, the variable for trees sets the radix "faninout". For other collectives, the
// variable for chains sets it.
func tunedParams(c coll.Collective, entries []mpi.Entry) []tunedParam {
	fanout := "_chain_fanout"
	if c == coll.Allgather {
		fanout = "_tree_fanout"
	}
	var out []tunedParam
	for _, p := range []tunedParam{{"segsize", "_segmentsize"}, {"faninout", fanout}, {"max_requests", "_max_requests"}} {
		if slices.ContainsFunc(entries, func(e mpi.Entry) bool { return slices.Contains(e.Params, p.name) }) {
			out = append(out, p)
		}
	}
	return out
}
