package assembly

import (
	"sync"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/mpi"
	"tutti/selection"
)

// fitFor returns a function that merges the rows of a collective into rules of a library's build.
// The first merge opens the build.
func (c *Campaign) fitFor(lib config.Library, port mpi.Library, cat *mpi.Catalogue) func([]selection.Row) (activelearn.Selection, error) {
	open := sync.OnceValues(func() (mpi.Build, error) { return port.Open(cat, lib.Path) })
	return func(rows []selection.Row) (activelearn.Selection, error) {
		build, err := open()
		if err != nil {
			return activelearn.Selection{}, err
		}
		sel, err := build.Fit(rows, mpi.FitOptions{MaxLoss: c.Config.Export.MaxLoss, OpSafe: c.Config.Export.OpSafe})
		return activelearn.Selection{Leaves: sel.Leaves(), Choose: func(p coll.Point) coll.Algorithm {
			alg, _ := sel.Select(p) // the default, outside the tuned range
			return alg
		}}, err
	}
}
