package benchrunner

import (
	"context"
	"errors"

	"tutti/coll"
)

// ErrUnavailable says that the machine cannot run anything now; nothing is known
// about the candidates and the same batch may be tried again later.
var ErrUnavailable = errors.New("machine unavailable")

// Request asks for one trial.
type Request struct {
	coll.Candidate
	Attempt int  // 1 for the first attempt
	Ended   bool // ended in an earlier run of the campaign: part of the batch's launches, not to be run again
}

// Batch is what one round measures.
type Batch struct {
	Round    int
	Requests []Request
}

// Runner measures batches on one machine with one MPI build.
type Runner interface {
	// Run measures every request that has not ended and calls done exactly once
	// for each, in whatever order the trials end; calls do not overlap. A
	// candidate that could not be measured is a failed trial, not an error.
	//
	// Run returns early with the error of done, with ctx.Err() once ctx is
	// cancelled, or with an error matching ErrUnavailable. Requests without a
	// trial by then have not been measured, and asking again is allowed.
	Run(ctx context.Context, batch Batch, done func(coll.Trial) error) error
}
