package forcing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/coll/catalogue"
)

// tunedOpenMPI forces one algorithm of the component tuned. Parameters that the
// candidate does not name are 0, as in a rules file; the component's own values
// for forced algorithms differ.
//
// The default needs the component's dynamic rules off, which is decided at the
// start of a program: it has an empty Base of its own.
func tunedOpenMPI(cat *catalogue.Catalogue, c coll.Candidate) (Forcing, error) {
	if c.Algorithm.IsDefault() {
		return Forcing{NewComm: true}, nil
	}
	e, err := cat.Lookup(c.Collective, c.Algorithm)
	if err != nil {
		return Forcing{}, err
	}
	base, err := tunedAlone(cat)
	if err != nil {
		return Forcing{}, err
	}
	prefix := "coll_tuned_" + string(c.Collective) + "_algorithm"
	switches := []Switch{{prefix, e.ID}}
	for _, param := range tunedParams(cat.Entries(c.Collective)) {
		value := 0
		if text, ok := c.Algorithm.Param(param.name); ok {
			if value, err = strconv.Atoi(text); err != nil || value < 0 {
				return Forcing{}, fmt.Errorf("%v: %w: parameter %s=%s: want a whole number", c, catalogue.ErrInfeasible, param.name, text)
			}
		}
		switches = append(switches, Switch{prefix + param.suffix, value})
	}
	f := Forcing{Env: slices.Clone(base), Base: base, Switches: switches, NewComm: true}
	for _, s := range switches {
		f.Env = append(f.Env, Var{Name: mcaPrefix + s.Name, Value: strconv.Itoa(s.Value)})
	}
	if c.Collective == coll.Allgatherv {
		// Its control variable can be read only (MPI_T_cvar_write of 4.1.4 refuses
		// with MPI_T_ERR_CVAR_SET_NEVER): each algorithm is a program of its own.
		f.Base = slices.Clone(f.Env)
	}
	return f, nil
}

const mcaPrefix = "OMPI_MCA_"

// tunedAlone returns what makes the component tuned follow the settings and keeps
// components of higher priority from taking the collective away from it: hcoll
// where it is installed and, from 5.0 on, han. The list of components itself
// (OMPI_MCA_coll) is the user's.
func tunedAlone(cat *catalogue.Catalogue) ([]Var, error) {
	major, _, _ := strings.Cut(cat.Version, ".")
	release, err := strconv.Atoi(major)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: want a release like 4.1.4", cat.Library, cat.Version, catalogue.ErrUnknown)
	}
	out := []Var{
		{Name: mcaPrefix + "coll_tuned_use_dynamic_rules", Value: "1"},
		{Name: mcaPrefix + "coll_hcoll_enable", Value: "0"},
	}
	if release >= 5 {
		out = append(out, Var{Name: mcaPrefix + "coll_han_priority", Value: "0"})
	}
	return out, nil
}

// tunedParam is a parameter of the catalogue and what the component calls it
// after the name of the collective.
type tunedParam struct{ name, suffix string }

// tunedParams returns the parameters that any algorithm of the collective has.
// A collective without them lacks the control variables, too.
func tunedParams(entries []catalogue.Entry) []tunedParam {
	var out []tunedParam
	for _, p := range []tunedParam{{"segsize", "_segmentsize"}, {"faninout", "_chain_fanout"}, {"max_requests", "_max_requests"}} {
		if slices.ContainsFunc(entries, func(e catalogue.Entry) bool { return slices.Contains(e.Params, p.name) }) {
			out = append(out, p)
		}
	}
	return out
}
