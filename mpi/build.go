package mpi

import (
	"slices"

	"tutti/selection"
)

// Build makes selection files for one release of a library.
type Build interface {
	// Catalogue returns the algorithms of the release that this build of the library can run.
	Catalogue() *Catalogue

	// Fit merges the rows of any number of collectives into a selection that the library's files can
	// express. A row accepts every option whose loss is at most maxLoss. The loss is the ratio of the option's
	// predicted time to that of the best option, minus one. The error matches selection.ErrRow, or ErrUnknown if
	// the release does not have an algorithm of the rows.
	Fit(rows []selection.Row, maxLoss float64) (selection.Selection, error)

	// Export returns the files and settings with which the library follows a selection returned by Fit. The
	// parameter dir is the absolute path of the folder for the files. Equal selections give equal exports.
	// The error matches ErrUnknown if the release lacks an algorithm.
	Export(sel selection.Selection, dir string) (Export, error)

	// Replay reads an exported selection back and evaluates it as the library does. It returns an error if the
	// library would not run the algorithm that sel selects for a row.
	Replay(x Export, sel selection.Selection, rows []selection.Row) error
}

// FitOptions are limits of a selection.
type FitOptions struct {
	MaxLoss float64 // largest accepted loss of a row: 0.01 accepts one percent
	OpSafe  bool    // without algorithms that are wrong for some valid calls, see Entry.OpSafe
}

// Fit merges rows like the method Fit of a Build. It leaves out algorithms that the options exclude, and those that
// the catalogue of the build does not list, for example because a release of tutti has removed them since the
// measurements.
func Fit(b Build, rows []selection.Row, opt FitOptions) (selection.Selection, error) {
	rows = slices.Clone(rows)
	for i, r := range rows {
		rows[i].Options = slices.DeleteFunc(slices.Clone(r.Options), func(o selection.Option) bool {
			e, err := b.Catalogue().Lookup(r.Point.Collective, o.Algorithm)
			return !o.Algorithm.IsDefault() && (err != nil || opt.OpSafe && e.Unsafe(o.Algorithm) != "")
		})
	}
	return b.Fit(rows, opt.MaxLoss)
}
