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
	open    func() (mpi.Build, error) // opens the library at the first call

	unverified bool            // no verification has compared the files with the library's default
	placement  coll.Placements // of the ranks of the measurements
}

// notVerified is the remark in unverified settings.
const notVerified = "Not verified: tutti verify has not compared these settings with the library's default on the machine."

// newBuild returns the build of a release that tutti's tables contain.
func newBuild(lib config.Library, export config.Export) (build, error) {
	port, cat, err := libraries.Release(lib.Name, lib.Version)
	return buildOf(lib, export, port, cat), err
}

func buildOf(lib config.Library, export config.Export, port mpi.Library, cat *mpi.Catalogue) build {
	open := sync.OnceValues(func() (mpi.Build, error) { return port.Open(cat, lib.Path) })
	return build{library: lib, export: export, port: port, cat: cat, open: open}
}

// fit makes a selection from rows, as far as rules of the library can express it.
func (b build) fit(rows []selection.Row) (selection.Selection, error) {
	release, err := b.open()
	if err != nil {
		return selection.Selection{}, err
	}
	return release.Fit(rows, mpi.FitOptions{MaxLoss: b.export.MaxLoss, OpSafe: b.export.OpSafe})
}

// write checks that the selection files select the right algorithm at every row, and writes them into
// dir.
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
	x.Setup.Remarks, x.Setup.Order = append(x.Setup.Remarks, b.remarks()...), b.placement.Order
	return x, x.Write(dir)
}

// remarks returns the remarks that tutti adds to the settings.
func (b build) remarks() []string {
	var out []string
	if b.placement.Known() {
		out = append(out, fmt.Sprintf("Measured with %v: the best algorithms of other placements may differ.", b.placement))
	}
	if b.unverified {
		out = append(out, notVerified)
	}
	return out
}

// origin describes the source of the list of algorithms.
func (b build) origin() string {
	if b.port.Facts().FromFile && b.library.Path != "" {
		return "installed library " + b.library.Path
	}
	return fmt.Sprintf("catalogue of %s %s", b.library.Name, b.library.Version)
}
