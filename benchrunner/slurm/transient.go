package slurm

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"tutti/benchrunner"
)

// transient are the complaints of sbatch after which a repetition can help. Any other
// is a rejection. Those marked sure say that the controller has not heard of the job.
// The texts are those of Slurm 22.05, src/common/slurm_errno.c and sbatch.c.
var transient = []struct {
	text string
	sure bool
}{
	{"connect failure", true},
	{"Munge encode failed", true},
	{"Could not establish a configuration source", true},
	{"fork: ", true},
	{"Connection refused", true},
	{"backup controller in standby mode", true},
	{"Required partition not available", true},
	{"MaxSubmitJob", true},   // AssocMaxSubmitJobLimit, QOSMaxSubmitJobPerUserLimit
	{"GrpSubmitJob", true},   // AssocGrpSubmitJobsLimit
	{"writing script", true}, // the controller's disk is full
	{"Unable to create job record, try again", true},
	{"temporarily disabled", false},
	{"job queue full", false},
	{"Unable to contact slurm controller", false},
	{"Socket timed out on send/recv operation", false},
	{"send/recv", false},
	{"Zero Bytes were transmitted or received", false},
	{"Transport endpoint is not connected", false},
	{"Connection reset", false},
	{"Connection timed out", false},
	{"Broken pipe", false},
	{"Protocol authentication error", false},
	{"Invalid authentication credential", false},
	{"Protocol version has changed", false},
	{"temporarily unable to accept job", false},
	{"controller not responding", false},
	{"Resource temporarily unavailable", false},
	{"Cannot allocate memory", false},
}

// submitOutcome is what became of an attempt to submit that failed.
type submitOutcome int

const (
	rejected submitOutcome = iota // never acceptable
	refused                       // not accepted, may be later
	doubtful                      // it is not known whether it was accepted
	broken                        // the command cannot be run
)

// submitOutcomeOf tells from the failure of sbatch and its standard output what became of the
// submission.
func submitOutcomeOf(f *failure, stdout string) submitOutcome {
	if errors.Is(f.err, exec.ErrNotFound) {
		return broken
	}
	var unrunnable *exec.Error
	if errors.As(f.err, &unrunnable) {
		return broken
	}
	if _, printed := parseID(stdout); printed || f.timedOut || f.code < 0 {
		return doubtful
	}
	for _, t := range transient {
		switch {
		case !strings.Contains(f.words, t.text):
		case t.sure:
			return refused
		default:
			return doubtful
		}
	}
	return rejected
}

// pauses returns a function that waits longer and longer, and returns an error
// matching ErrUnavailable with the last failure once patience is at its end.
func (s *Scheduler) pauses() func(ctx context.Context, last error) error {
	intervals := backoff.NewExponentialBackOff()
	intervals.InitialInterval = 500 * time.Millisecond
	intervals.MaxInterval = 20 * time.Second
	begin := s.options.Now()
	return func(ctx context.Context, last error) error {
		waited := s.options.Now().Sub(begin)
		if waited >= s.options.Patience {
			return fmt.Errorf("%w: after %v: %w", benchrunner.ErrUnavailable, waited.Round(time.Second), last)
		}
		s.options.Notice(last)
		return s.options.Sleep(ctx, intervals.NextBackOff())
	}
}

// persist repeats ask while it fails. A failure for which final returns true, and a
// command that cannot be run, are not repeated.
func persist[T any](ctx context.Context, s *Scheduler, ask func() (T, error), final func(*failure) bool) (T, error) {
	pause := s.pauses()
	for {
		answer, err := ask()
		var f *failure
		if err == nil || !errors.As(err, &f) {
			return answer, err
		}
		if ctx.Err() != nil {
			return answer, ctx.Err()
		}
		if final(f) {
			return answer, err
		}
		if submitOutcomeOf(f, "") == broken {
			return answer, fmt.Errorf("%w: %w", benchrunner.ErrUnavailable, err)
		}
		if err := pause(ctx, err); err != nil {
			return answer, err
		}
	}
}

func never(*failure) bool { return false }
