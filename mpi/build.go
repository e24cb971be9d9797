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
	// express. The error matches selection.ErrRow, or ErrUnknown if the release does not have an algorithm
	// of the rows.
	Fit(rows []selection.Row, opt FitOptions) (selection.Selection, error)

	// Export returns the files and settings with which the library follows a selection returned by Fit. The
	// parameter dir is the absolute path of the folder for the files. Equal selections give equal exports.
	// The error matches ErrUnknown if the release lacks an algorithm.
	Export(sel selection.Selection, dir string) (Export, error)

	// Replay reads an exported selection back and evaluates it as the library does. It returns an error if the
	// library would not run the algorithm that sel selects for a row.
	Replay(x Export, sel selection.Selection, rows []selection.Row) error
}

// Fit merges rows like the method Fit of a Build. It ignores algorithms that the catalogue of the build does
// not list, for example because a release of tutti has removed them since the measurements.
func Fit(b Build, rows []selection.Row, opt FitOptions) (selection.Selection, error) {
	rows = slices.Clone(rows)
	for i, r := range rows {
		rows[i].Options = slices.DeleteFunc(slices.Clone(r.Options), func(o selection.Option) bool {
			_, err := b.Catalogue().Lookup(r.Point.Collective, o.Algorithm)
			return err != nil && !o.Algorithm.IsDefault()
		})
	}
	return b.Fit(rows, opt)
}

// FitOptions are limits of a selection.
type FitOptions struct {
	// MaxLoss is the largest accepted loss of a row. The loss is the ratio of the selected option's
	// predicted time to that of the best option, minus one. For example, 0.01 accepts one percent.
	MaxLoss float64

	// OpSafe excludes algorithms that are wrong for non-commutative operations or for some datatypes.
	// It does not exclude an algorithm if conditions in the library's rules prevent wrong calls
	// (Facts.Guards).
	OpSafe bool
}
