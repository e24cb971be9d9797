package openmpi

import (
	"fmt"

	"tutti/mpi"
	"tutti/selection"
)

// Fit implements mpi.Build.
func (b build) Fit(rows []selection.Row, opt mpi.FitOptions) (selection.Selection, error) {
	if opt.OpSafe {
		var err error
		if rows, err = b.cat.Safe(rows); err != nil {
			return selection.Selection{}, fmt.Errorf("openmpi: %w", err)
		}
	}
	sel, err := selection.FitAll(rows, size, opt.MaxLoss)
	if err != nil {
		return selection.Selection{}, fmt.Errorf("openmpi: %w", err)
	}
	return sel, nil
}
