package benchrunner

import (
	"context"
	"errors"
	"time"

	"tutti/coll"
)

// ErrUnavailable reports that the machine cannot run anything at the moment. The error says nothing about
// the candidates, and the same batch can be run again later.
var ErrUnavailable = errors.New("machine unavailable")

// ErrNoStart reports that a job started no program, and that no job before it started one. The campaign's
// settings probably do not fit the machine. The candidates have no trial. Run the same batch again after
// fixing the cause.
var ErrNoStart = errors.New("no benchmark started")

// ErrNoResults reports that a job measured nothing for a cause outside of its candidates. They go into another job.
var ErrNoResults = errors.New("a job measured nothing")

// ErrTimeUp reports that the time limit of a batch was reached, or that its budget is used up. Some requests have no trial.
var ErrTimeUp = errors.New("a limit was reached")

// Request asks for one trial.
type Request struct {
	coll.Candidate
	Attempt int  // 1 for the first attempt
	Ended   bool // has a trial from an earlier run: shares a launch of the batch, but is not measured again
	// Independent asks for a time whose noise does not depend on the noise of any other time in the campaign.
	// Only replay uses this field.
	Independent bool
}

// Batch contains the requests of one round.
type Batch struct {
	Label    string // of the problem, part of job names: letters, digits, ._-
	Round    int
	Requests []Request
	Jobs     []coll.Job // last record of each job that an earlier run began for this round
	Until    time.Time  // no launch begins afterwards; zero for no limit
	Budget   Budget     // no launch begins after it is used up
}

// Budget limits what may be spent, in seconds. Zero means no limit.
type Budget struct{ MachineSeconds, NodeSeconds float64 }

// Spent reports whether a budget is used up.
func (b Budget) Spent(machineSeconds, nodeSeconds float64) bool {
	return b.MachineSeconds > 0 && machineSeconds >= b.MachineSeconds || b.NodeSeconds > 0 && nodeSeconds >= b.NodeSeconds
}

// Log records the jobs and trials of a batch. When a method returns nil, its record is on disk. The calls
// for one batch never overlap.
type Log interface {
	Job(coll.Job) error
	Trial(coll.Trial) error
}

// Runner measures batches on one machine with one MPI build.
type Runner interface {
	// Run measures every request that has not ended. It logs exactly one trial for each, in any order. If a
	// candidate cannot be measured, Run logs a failed trial and returns no error for it.
	//
	// Run returns early with the error of the log, with ctx.Err() once ctx is cancelled, or with an error
	// matching ErrUnavailable, ErrNoStart or ErrTimeUp. Requests without a trial may then be requested again. A runner
	// whose jobs can outlive tutti logs each job three times: before its submission, when it has an ID, and
	// after its trials. If Batch.Jobs contains such jobs, Run resumes them instead of submitting them
	// again.
	Run(ctx context.Context, batch Batch, log Log) error
}

// TrialLog is a function that implements Log, for runners without jobs. It gets each trial.
type TrialLog func(coll.Trial) error

// Job implements Log.
func (TrialLog) Job(coll.Job) error { return nil }

// Trial implements Log.
func (f TrialLog) Trial(t coll.Trial) error { return f(t) }
