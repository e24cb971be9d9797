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

// build is what selection files of one library are made for.
type build struct {
	library config.Library
	export  config.Export
	port    mpi.Library
	cat     *mpi.Catalogue
	open    func() (mpi.Build, error) // once

	unverified bool            // nobody has held the files of this release against the library's default
	placed     coll.Placements // of what was measured
}

// notVerified is the remark of settings that no verification has been through with.
const notVerified = "Not verified: tutti verify has not held these settings against the library's default on the machine."

// newBuild returns the build of a release that the tables know.
func newBuild(lib config.Library, export config.Export) (build, error) {
	port, cat, err := libraries.Release(lib.Name, lib.Version)
	return buildOf(lib, export, port, cat), err
}

func buildOf(lib config.Library, export config.Export, port mpi.Library, cat *mpi.Catalogue) build {
	open := sync.OnceValues(func() (mpi.Build, error) { return port.Open(cat, lib.Path) })
	return build{library: lib, export: export, port: port, cat: cat, open: open}
}

// fit returns what the library can be told of rows.
func (b build) fit(rows []selection.Row) (selection.Selection, error) {
	release, err := b.open()
	if err != nil {
		return selection.Selection{}, err
	}
	return release.Fit(rows, mpi.FitOptions{MaxLoss: b.export.MaxLoss, OpSafe: b.export.OpSafe})
}

// write puts the selection files into dir, after they were replayed at every row.
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

// remarks are those that settings of every library have.
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

// origin is where the list of algorithms comes from.
func (b build) origin() string {
	if b.port.Facts().FromFile && b.library.Path != "" {
		return "installed library " + b.library.Path
	}
	return fmt.Sprintf("catalogue of %s %s", b.library.Name, b.library.Version)
}
