package export

import (
	"fmt"
	"path/filepath"
	"sync"

	"tutti/coll"
	"tutti/internal/config"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/selection"
)

// build is a release of one library that selection files are written for.
type build struct {
	library config.Library
	export  config.Export
	port    mpi.Library
	cat     *mpi.Catalogue
	open    func() (mpi.Build, error) // once

	unverified bool            // the files of this release were not compared with the library's default
	placed     coll.Placements // of the measurements
}

// notVerified is the remark in settings that were not verified.
const notVerified = "Not verified: tutti verify has not held these settings against the library's default on the machine."

// newBuild returns the build of a release in the tables.
func newBuild(lib config.Library, export config.Export) (build, error) {
	port, cat, err := libraries.Release(lib.Name, lib.Version)
	return buildOf(lib, export, port, cat), err
}

func buildOf(lib config.Library, export config.Export, port mpi.Library, cat *mpi.Catalogue) build {
	open := sync.OnceValues(func() (mpi.Build, error) { return port.Open(cat, lib.Path) })
	return build{library: lib, export: export, port: port, cat: cat, open: open}
}

// fit returns the selection of rows that the library can be told.
func (b build) fit(rows []selection.Row) (selection.Selection, error) {
	release, err := b.open()
	if err != nil {
		return selection.Selection{}, err
	}
	return release.Fit(rows, mpi.FitOptions{MaxLoss: b.export.MaxLoss, OpSafe: b.export.OpSafe})
}

// write replays the selection files at every row, then writes them into dir.
func (b build) write(dir string, rows []selection.Row) (mpi.Export, error) {
	sel, err := b.fit(rows)
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
	x, err := release.Export(sel, dir)
	if err != nil {
		return mpi.Export{}, err
	}
	if err := release.Replay(x, sel, rows); err != nil {
		return mpi.Export{}, err
	}
	x.Setup.Remarks, x.Setup.Order = append(x.Setup.Remarks, b.remarks()...), b.placed.Order
	return x, x.Write(dir)
}

// remarks returns the remarks in the settings of every library.
func (b build) remarks() []string {
	var out []string
	if b.placed.Known() {
		out = append(out, fmt.Sprintf("Measured with %v: other placements may want other algorithms.", b.placed))
	}
	if b.unverified {
		out = append(out, notVerified)
	}
	return out
}

// origin returns the source of the list of algorithms.
func (b build) origin() string {
	if b.port.Facts().FromFile && b.library.Path != "" {
		return "installed library " + b.library.Path
	}
	return fmt.Sprintf("catalogue of %s %s", b.library.Name, b.library.Version)
}
