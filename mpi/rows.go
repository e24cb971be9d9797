package mpi

import (
	"slices"

	"tutti/coll"
	"tutti/selection"
)

// Portable adapts rows that were measured with another release. It keeps the options that this release also
// has. If the best remaining option of a row is slower than the best measured one by more than maxLoss,
// only the default remains. The result `left` is the number of rows with only the default.
func (c *Catalogue) Portable(rows []selection.Row, measured string, maxLoss float64) (out []selection.Row, left int) {
	if c.Version == measured {
		return rows, 0
	}
	for _, r := range rows {
		both := selection.Row{Point: r.Point}
		least := -1.0
		for _, o := range r.Options {
			if !c.Carries(coll.Candidate{Point: r.Point, Algorithm: o.Algorithm}, measured) {
				continue
			}
			both.Options = append(both.Options, o)
			if loss, _ := r.Loss(o.Algorithm); least < 0 || loss < least {
				least = loss
			}
		}
		if len(r.Options) > 0 && (least < 0 || least > maxLoss) {
			left++
			both.Options = slices.DeleteFunc(both.Options, func(o selection.Option) bool { return !o.Algorithm.IsDefault() })
		}
		out = append(out, both)
	}
	return out, left
}
