package mpi

import "tutti/selection"

// Build is what selection files are made for: a release of a library, perhaps the
// very one that is installed.
type Build interface {
	// Fit merges the rows of any number of collectives into what the library can be
	// told. The error matches selection.ErrRow, or ErrUnknown when the release has not
	// an algorithm of the rows.
	Fit(rows []selection.Row, opt FitOptions) (selection.Selection, error)

	// Export returns what makes the library follow a selection of Fit, to be written into a
	// folder with an absolute path. It is the same for the same selection. The error matches
	// ErrUnknown when the release has not an algorithm of the selection.
	Export(sel selection.Selection, dir string) (Export, error)

	// Replay reads an export back and follows it as the library does. At every row it
	// must reach what sel selects there.
	Replay(x Export, sel selection.Selection, rows []selection.Row) error
}

// FitOptions bound what a library is told.
type FitOptions struct {
	// MaxLoss is the largest predicted slowdown, minus one, against the best option of
	// a row: 0.01 for one percent.
	MaxLoss float64

	// OpSafe leaves out algorithms that are wrong for operations that do not commute, or
	// types with gaps, where the library's rules cannot guard them (Facts.Guards).
	OpSafe bool
}
