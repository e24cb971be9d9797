package mpi

import "tutti/selection"

// Build is a release of a library for which selection files are made, possibly the
// installed one.
type Build interface {
	// Fit merges the rows of any number of collectives into a selection that the library's
	// files can express. The error matches selection.ErrRow, or ErrUnknown if the release
	// lacks an algorithm of the rows.
	Fit(rows []selection.Row, opt FitOptions) (selection.Selection, error)

	// Export returns the files and settings that make the library follow a selection of
	// Fit. dir is the absolute path of their folder. Equal selections give equal exports.
	// The error matches ErrUnknown if the release lacks an algorithm.
	Export(sel selection.Selection, dir string) (Export, error)

	// Replay reads an export back and evaluates it as the library does. At every row it
	// must reach the algorithm that sel selects.
	Replay(x Export, sel selection.Selection, rows []selection.Row) error
}

// FitOptions are limits of a selection.
type FitOptions struct {
	// MaxLoss is the largest predicted slowdown, minus one, relative to the best option of
	// a row: 0.01 for one percent.
	MaxLoss float64

	// OpSafe leaves out algorithms that are wrong for non-commutative operations or for
	// datatypes with gaps, unless the library's rules guard them (Facts.Guards).
	OpSafe bool
}
