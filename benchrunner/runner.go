package benchrunner

import (
	"context"
	"errors"

	"tutti/coll"
)

// ErrUnavailable reports that the machine cannot run anything now. Nothing is known about
// the candidates, and the same batch may be run again later.
var ErrUnavailable = errors.New("machine unavailable")

// ErrNoStart reports that no program of a whole job started, and that none had started before:
// the campaign's settings do not fit the machine. The candidates have no trial. Run the same
// batch again after fixing the cause.
var ErrNoStart = errors.New("no benchmark started")

// Request asks for one trial.
type Request struct {
	coll.Candidate
	Attempt int  // 1 for the first attempt
	Ended   bool // has a trial from an earlier run: shares a launch of the batch, but is not measured again
	// Independent asks for a time whose noise is independent of the campaign's other times.
	// Only recorded data use this field.
	Independent bool
}

// Batch is what one round measures.
type Batch struct {
	Label    string // of the problem, part of job names: letters, digits, ._-
	Round    int
	Requests []Request
	Jobs     []coll.Job // last record of each job that an earlier run began for this round
}

// Log records the jobs and trials of a batch. A record is on disk when a method returns
// nil. Calls of one batch never overlap.
type Log interface {
	Job(coll.Job) error
	Trial(coll.Trial) error
}

// Runner measures batches on one machine with one MPI build.
type Runner interface {
	// Run measures every request that has not ended and logs exactly one trial for each, in
	// any order. A candidate that could not be measured is a failed trial, not an error.
	//
	// Run returns early with the error of the log, with ctx.Err() once ctx is cancelled, or
	// with an error matching ErrUnavailable or ErrNoStart. Requests without a trial may be
	// requested again. A runner whose jobs outlive it logs each job before it is submitted,
	// when it has an ID, and after its trials. If Run gets these Jobs again, it resumes
	// them instead of submitting them twice.
	Run(ctx context.Context, batch Batch, log Log) error
}

// TrialLog is a Log of trials for runners without jobs.
type TrialLog func(coll.Trial) error

// Job implements Log. It ignores the job.
func (TrialLog) Job(coll.Job) error { return nil }

// Trial implements Log. It calls f.
func (f TrialLog) Trial(t coll.Trial) error { return f(t) }
