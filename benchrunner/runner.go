package benchrunner

import (
	"context"
	"errors"

	"tutti/coll"
)

// ErrUnavailable says that the machine cannot run anything now; nothing is known
// about the candidates and the same batch may be tried again later.
var ErrUnavailable = errors.New("machine unavailable")

// ErrNoStart says that no program of a whole job started, and none before it: the
// machine is not what the campaign takes it for. None of the candidates has a trial for
// that; the same batch may be tried again once it is mended.
var ErrNoStart = errors.New("no benchmark started")

// Request asks for one trial.
type Request struct {
	coll.Candidate
	Attempt int  // 1 for the first attempt
	Ended   bool // ended in an earlier run of the campaign: part of the batch's launches, not to be run again
	// Independent asks recorded data for a time whose noise is independent of those of the campaign.
	Independent bool
}

// Batch is what one round measures.
type Batch struct {
	Label    string // of the problem, a part of job names: letters, digits, ._-
	Round    int
	Requests []Request
	Jobs     []coll.Job // the last record of each job that an earlier run began for this round
}

// Log takes what happens while a batch runs. It is on disk when a method returns
// nil. Calls of one batch do not overlap.
type Log interface {
	Job(coll.Job) error
	Trial(coll.Trial) error
}

// Runner measures batches on one machine with one MPI build.
type Runner interface {
	// Run measures every request that has not ended and logs exactly one trial
	// for each, in whatever order they end. A candidate that could not be
	// measured is a failed trial, not an error.
	//
	// Run returns early with the error of the log, with ctx.Err() once ctx is
	// cancelled, or with an error matching ErrUnavailable or ErrNoStart. Requests without a
	// trial by then have not been measured, and asking again is allowed. A runner
	// whose jobs outlive it logs each job before it is submitted, when it has an
	// ID and after the trials it carried; asked again with these Jobs, it takes
	// them up instead of submitting twice.
	Run(ctx context.Context, batch Batch, log Log) error
}

// TrialLog is a Log of trials for runners without jobs.
type TrialLog func(coll.Trial) error

// Job does nothing.
func (TrialLog) Job(coll.Job) error { return nil }

// Trial calls f.
func (f TrialLog) Trial(t coll.Trial) error { return f(t) }
