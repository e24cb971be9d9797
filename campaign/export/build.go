package export

import (
	"fmt"
	"path/filepath"
	"sync"

	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/selection"
)

// build is what selection files of one library are made for.
type build struct {
	library config.Library
	export  config.Export
	port    mpi.Library
	cat     *mpi.Catalogue
	open    func() (mpi.Build, error) // once
}

// newBuild returns the build of a release that the tables know.
func newBuild(lib config.Library, export config.Export) (build, error) {
	port, cat, err := libraries.Release(lib.Name, lib.Version)
	return buildOf(lib, export, port, cat), err
}

func buildOf(lib config.Library, export config.Export, port mpi.Library, cat *mpi.Catalogue) build {
	open := sync.OnceValues(func() (mpi.Build, error) { return port.Open(cat, lib.Path) })
	return build{lib, export, port, cat, open}
}

// plan returns what the library can be told of rows.
func (b build) plan(rows []selection.Row) (selection.Plan, error) {
	release, err := b.open()
	if err != nil {
		return selection.Plan{}, err
	}
	return release.Fit(rows, mpi.FitOptions{MaxLoss: b.export.MaxLoss, OpSafe: b.export.OpSafe})
}

// fit merges the predictions of one collective into what the library can be told.
func (b build) fit(rows []selection.Row) (campaign.Selection, error) {
	plan, err := b.plan(rows)
	return campaign.Selection{Leaves: plan.Leaves(), Choose: func(p coll.Point) coll.Algorithm {
		alg, _ := plan.Select(p) // the default outside the tuned range
		return alg
	}}, err
}

// write puts the selection files into dir, after they were replayed at every row.
func (b build) write(dir string, rows []selection.Row) (mpi.Export, error) {
	plan, err := b.plan(rows)
	if err != nil {
		return mpi.Export{}, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return mpi.Export{}, err
	}
	release, err := b.open()
	if err != nil {
		return mpi.Export{}, err
	}
	x, err := release.Export(plan, dir)
	if err != nil {
		return mpi.Export{}, err
	}
	if err := release.Replay(x, plan, rows); err != nil {
		return mpi.Export{}, err
	}
	return x, x.Write(dir)
}

// origin is where the list of algorithms comes from.
func (b build) origin() string {
	if b.port.Facts().FromFile && b.library.Path != "" {
		return "installed library " + b.library.Path
	}
	return fmt.Sprintf("catalogue of %s %s", b.library.Name, b.library.Version)
}
