package openmpi

import (
	"fmt"

	"tutti/mpi"
	"tutti/selection"
)

// Options says how to fit.
type Options struct {
	MaxLoss float64 // see selection.Options
	OpSafe  bool    // leave out algorithms that are wrong for operations that do not commute
}

// Plan is what to write.
type Plan = selection.Plan

// Conflict is a layout that disagrees with another one of as many processes.
type Conflict = selection.Conflict

// SafeRows returns the rows without the options that the catalogue does not call
// right for every operation. The library's default always is.
func SafeRows(rows []selection.Row, cat *mpi.Catalogue) ([]selection.Row, error) {
	out := make([]selection.Row, len(rows))
	for i, r := range rows {
		out[i].Point = r.Point
		for _, o := range r.Options {
			if !o.Algorithm.IsDefault() {
				entry, err := cat.Lookup(r.Point.Collective, o.Algorithm)
				if err != nil {
					return nil, fmt.Errorf("openmpi: %v: %w", r.Point, err)
				}
				if !entry.OpSafe {
					continue
				}
			}
			out[i].Options = append(out[i].Options, o)
		}
	}
	return out, nil
}

// Fit plans the rules for the rows of any number of collectives.
func Fit(rows []selection.Row, cat *mpi.Catalogue, opt Options) (Plan, error) {
	if opt.OpSafe {
		safe, err := SafeRows(rows, cat)
		if err != nil {
			return Plan{}, err
		}
		rows = safe
	}
	plan, err := selection.FitPlan(rows, Size, opt.MaxLoss)
	if err != nil {
		return Plan{}, fmt.Errorf("openmpi: %w", err)
	}
	return plan, nil
}
