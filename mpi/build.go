package mpi

import "tutti/selection"

// Build is what selection files are made for: a release of a library, perhaps the
// very one that is installed.
type Build interface {
	// Fit merges the rows of any number of collectives into what the library can be
	// told. The error matches selection.ErrRow, or ErrUnknown when the release has not
	// an algorithm of the rows.
	Fit(rows []selection.Row, opt FitOptions) (selection.Plan, error)

	// Export returns what makes the library follow a plan of Fit, to be written into a
	// folder with an absolute path. It is the same for the same plan. The error matches
	// ErrUnknown when the release has not an algorithm of the plan.
	Export(plan selection.Plan, dir string) (Export, error)

	// Replay reads an export back and follows it as the library does. At every row it
	// must reach what the plan selects there.
	Replay(x Export, plan selection.Plan, rows []selection.Row) error
}

// FitOptions bound what a library is told.
type FitOptions struct {
	// MaxLoss is the largest predicted slowdown, minus one, against the best option of
	// a row: 0.01 for one percent.
	MaxLoss float64

	// OpSafe leaves out algorithms that are wrong for operations that do not commute,
	// where the library's rules cannot guard them (Facts.Guards).
	OpSafe bool
}
