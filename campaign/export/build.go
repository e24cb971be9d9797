package export

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tutti/coll"
	"tutti/internal/config"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/selection"
)

// build is the release of a library for which selection files are written.
type build struct {
	library config.Library
	export  config.Export
	port    mpi.Library
	cat     *mpi.Catalogue // of the opened library, or of the release if it cannot be opened
	opened  mpi.Build
	err     error // why the library cannot be opened

	unverified bool            // no verification has compared the files with the library's default
	placement  coll.Placements // of the ranks of the measurements

	load func(selection.Setup) error // loads the files once; may be nil
}

// notVerified is the remark in settings that no verification has tested.
const notVerified = "Not verified: tutti verify has not compared these settings with the library's default on the machine."

// newBuild returns the build of a library's release. Its series must be in tutti's catalogue.
func newBuild(lib config.Library, export config.Export) (build, error) {
	port, cat, err := libraries.Release(lib.Name, lib.Version, lib.Users...)
	if err != nil {
		return build{}, err
	}
	return buildOf(lib, export, port, cat), nil
}

func buildOf(lib config.Library, export config.Export, port mpi.Library, cat *mpi.Catalogue) build {
	b := build{library: lib, export: export, port: port, cat: cat}
	if b.opened, b.err = port.Open(cat, lib.Path); b.err == nil {
		b.cat = b.opened.Catalogue()
	}
	return b
}

// fit fits a selection to rows. The selection uses only rules that the library can express.
func (b build) fit(rows []selection.Row) (selection.Selection, error) {
	if b.err != nil {
		return selection.Selection{}, b.err
	}
	return mpi.Fit(b.opened, rows, mpi.FitOptions{MaxLoss: b.export.MaxLoss, OpSafe: b.export.OpSafe})
}

// files returns the selection for rows and its files in dir. It checks that the files select the right
// algorithm at every row.
func (b build) files(dir string, rows []selection.Row) (selection.Selection, mpi.Export, error) {
	sel, err := b.fit(rows)
	if err != nil {
		return selection.Selection{}, mpi.Export{}, err
	}
	x, err := b.opened.Export(sel, dir)
	if err != nil {
		return selection.Selection{}, mpi.Export{}, err
	}
	return sel, x, b.opened.Replay(x, sel, rows)
}

// write writes selection files into dir.
func (b build) write(dir string, rows []selection.Row) (mpi.Export, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return mpi.Export{}, err
	}
	sel, x, err := b.files(dir, rows)
	if err != nil {
		return mpi.Export{}, err
	}
	if err := b.tryLoading(sel, dir); err != nil {
		return mpi.Export{}, err
	}
	x.Setup.Remarks, x.Setup.Order = append(x.Setup.Remarks, b.remarks()...), b.placement.Order
	return x, x.Write(dir)
}

// tryLoading loads the files of a selection once from a temporary folder below dir.
func (b build) tryLoading(sel selection.Selection, dir string) (err error) {
	if b.load == nil {
		return nil
	}
	temporary, err := os.MkdirTemp(dir, "files-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	x, err := b.opened.Export(sel, temporary)
	if err != nil {
		return err
	}
	if err := x.Write(temporary); err != nil {
		return err
	}
	return b.load(x.Setup)
}

// remarks returns the remarks that tutti writes into the settings.
func (b build) remarks() []string {
	var out []string
	if b.placement.Known() {
		out = append(out, fmt.Sprintf("Measured with %v: the best algorithms of other placements may differ.", b.placement))
	}
	if b.unverified {
		out = append(out, notVerified)
	}
	if !b.cat.KnownSeries() {
		out = append(out, "No release of this series is known to tutti: the algorithms are those that the library lists.")
	}
	return out
}

// origin returns a text that says where the list of algorithms comes from.
func (b build) origin() string {
	if b.port.Facts().FromFile && b.library.Path != "" {
		return "installed library " + b.library.Path
	}
	return fmt.Sprintf("catalogue of %s %s", b.library.Name, b.library.Version)
}
