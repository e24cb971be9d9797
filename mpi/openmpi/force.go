package openmpi

import (
	"fmt"
	"slices"
	"strconv"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

// Force implements mpi.Measurable by the component tuned. Parameters that the
// candidate does not name are 0, as in a rules file; the component's own values for
// forced algorithms differ.
//
// The default needs the component's dynamic rules off, which is decided at the
// start of a program: it has an empty Base of its own.
func (library) Force(cat *mpi.Catalogue, c coll.Candidate) (mpi.Forcing, error) {
	if c.Algorithm.IsDefault() {
		return mpi.Forcing{NewComm: true}, nil
	}
	e, err := cat.Lookup(c.Collective, c.Algorithm)
	if err != nil {
		return mpi.Forcing{}, err
	}
	var base []mpi.Var
	for _, x := range append([]selection.Setting{dynamicRules}, others(cat.Version)...) {
		base = append(base, mpi.Var{Name: x.Name, Value: x.Value})
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
	f := mpi.Forcing{Env: slices.Clone(base), Base: base, Switches: switches, NewComm: true}
	for _, s := range switches {
		f.Env = append(f.Env, mpi.Var{Name: mcaPrefix + s.Name, Value: strconv.Itoa(s.Value)})
	}
	if c.Collective == coll.Allgatherv {
		// Its control variable can be read only (MPI_T_cvar_write of 4.1.4 refuses
		// with MPI_T_ERR_CVAR_SET_NEVER): each algorithm is a program of its own.
		f.Base = slices.Clone(f.Env)
	}
	return f, nil
}

const mcaPrefix = "OMPI_MCA_"

// dynamicRules makes the component tuned follow settings and files.
var dynamicRules = selection.Setting{Name: mcaPrefix + "coll_tuned_use_dynamic_rules", Value: "1"}

// others are settings by which components that stand before tuned step back: hcoll
// where it is installed and, from 5.0 on, han. The list of components itself
// (OMPI_MCA_coll) is the user's.
func others(release string) []selection.Setting {
	out := []selection.Setting{{Name: mcaPrefix + "coll_hcoll_enable", Value: "0"}}
	if mpi.AtLeast(release, 5) {
		out = append(out, selection.Setting{Name: mcaPrefix + "coll_han_priority", Value: "0"})
	}
	return out
}

// tunedParam is a parameter of the catalogue and what the component calls it
// after the name of the collective.
type tunedParam struct{ name, suffix string }

// tunedParams returns the parameters that any algorithm of the collective has.
// A collective without them lacks the control variables, too. A forced allgather takes faninout from
// the variable for trees, other collectives from the one for chains.
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
