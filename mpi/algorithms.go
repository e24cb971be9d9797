package mpi

import (
	"slices"

	"tutti/coll"
)

// Algorithms returns the algorithms of a collective that a campaign can measure, each with a few values of its
// parameters, without the library's default. Check reports which of them can run at a point. Algorithms for
// calls with MPI_IN_PLACE only are omitted, since no benchmark makes such calls.
func (c *Catalogue) Algorithms(collective coll.Collective) []coll.Algorithm {
	var out []coll.Algorithm
	for _, e := range c.entries[collective] {
		switch {
		case e.Has(InPlace):
		case c.rules.Variants != nil:
			out = append(out, c.rules.Variants(c, collective, e)...)
		default:
			out = append(out, Variants(e, nil)...)
		}
	}
	return out
}

// Ranges returns the ranges in which further values of an algorithm's parameters are worth trying. It
// returns nil for an unknown algorithm.
func (c *Catalogue) Ranges(collective coll.Collective, alg coll.Algorithm) []coll.Range {
	if c.rules.Ranges == nil || alg.IsDefault() {
		return nil
	}
	e, err := c.Lookup(collective, alg)
	if err != nil {
		return nil
	}
	return c.rules.Ranges(c, collective, e)
}

// RangesOf returns those of the given ranges whose parameter belongs to the entry.
func RangesOf(e Entry, ranges []coll.Range) []coll.Range {
	return slices.DeleteFunc(slices.Clone(ranges), func(r coll.Range) bool { return !slices.Contains(e.Params, r.Parameter) })
}

// Variants returns an algorithm with every combination of the parameter values. It omits a parameter
// without values, so the library chooses that parameter's value.
func Variants(e Entry, values map[string][]string) []coll.Algorithm {
	lists := [][]coll.Param{nil}
	for _, name := range e.Params {
		if len(values[name]) == 0 {
			continue
		}
		var longer [][]coll.Param
		for _, value := range values[name] {
			for _, l := range lists {
				longer = append(longer, append(slices.Clone(l), coll.Param{Name: name, Value: value}))
			}
		}
		lists = longer
	}
	var out []coll.Algorithm
	for _, params := range lists {
		a, err := coll.NewAlgorithm(e.Name, params...)
		if err != nil {
			panic("mpi: " + err.Error()) // names and values are part of the program
		}
		out = append(out, a)
	}
	slices.SortFunc(out, coll.CompareAlgorithms)
	return out
}
