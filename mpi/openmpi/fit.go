package openmpi

import (
	"fmt"

	"tutti/mpi"
	"tutti/selection"
)

// Fit implements mpi.Build.
func (b build) Fit(rows []selection.Row, opt mpi.FitOptions) (selection.Plan, error) {
	if opt.OpSafe {
		var err error
		if rows, err = b.cat.Safe(rows); err != nil {
			return selection.Plan{}, fmt.Errorf("openmpi: %w", err)
		}
	}
	plan, err := selection.FitPlan(rows, size, opt.MaxLoss)
	if err != nil {
		return selection.Plan{}, fmt.Errorf("openmpi: %w", err)
	}
	return plan, nil
}
