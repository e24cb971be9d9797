package main

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

// target is one library that selection files are written for.
type target struct {
	library config.Library
	export  config.Export
	port    mpi.Library
	cat     *mpi.Catalogue
	open    func() (mpi.Build, error) // once
}

// newTarget returns the target of a release that the tables know.
func newTarget(lib config.Library, export config.Export) (target, error) {
	port, cat, err := libraries.Release(lib.Name, lib.Version)
	return targetOf(lib, export, port, cat), err
}

func targetOf(lib config.Library, export config.Export, port mpi.Library, cat *mpi.Catalogue) target {
	open := sync.OnceValues(func() (mpi.Build, error) { return port.Open(cat, lib.Path) })
	return target{lib, export, port, cat, open}
}

// plan returns what the library can be told of rows.
func (t target) plan(rows []selection.Row) (selection.Plan, error) {
	b, err := t.open()
	if err != nil {
		return selection.Plan{}, err
	}
	return b.Fit(rows, mpi.FitOptions{MaxLoss: t.export.MaxLoss, OpSafe: t.export.OpSafe})
}

// fit merges the predictions of one collective into what the library can be told.
func (t target) fit(rows []selection.Row) (campaign.Selection, error) {
	plan, err := t.plan(rows)
	return campaign.Selection{Leaves: plan.Leaves(), Choose: func(p coll.Point) coll.Algorithm {
		alg, _ := plan.Select(p) // the default outside the tuned range
		return alg
	}}, err
}

// write puts the selection files into dir, after they were replayed at every row.
func (t target) write(dir string, rows []selection.Row) (mpi.Export, error) {
	plan, err := t.plan(rows)
	if err != nil {
		return mpi.Export{}, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return mpi.Export{}, err
	}
	b, err := t.open()
	if err != nil {
		return mpi.Export{}, err
	}
	x, err := b.Export(plan, dir)
	if err != nil {
		return mpi.Export{}, err
	}
	if err := b.Replay(x, plan, rows); err != nil {
		return mpi.Export{}, err
	}
	return x, x.Write(dir)
}

// origin is where the list of algorithms comes from.
func (t target) origin() string {
	if t.port.Facts().FromFile && t.library.Path != "" {
		return "installed library " + t.library.Path
	}
	return fmt.Sprintf("catalogue of %s %s", t.library.Name, t.library.Version)
}
