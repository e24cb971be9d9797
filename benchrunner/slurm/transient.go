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

// transient lists the errors of sbatch after which a retry may succeed. All other errors are rejections.
// After an error that is marked notReceived, the controller has certainly not received the job. The texts
// are from Slurm 22.05, src/common/slurm_errno.c and sbatch.c.
var transient = []struct {
	text        string
	notReceived bool
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

// submitOutcome says how a failed attempt to submit a job ended.
type submitOutcome int

const (
	accepted       submitOutcome = iota // the job has an ID
	neverAccepted                       // the job can never be accepted
	retryable                           // the job was not accepted, but may be later
	unknownOutcome                      // the job may have been accepted
	notRunnable                         // the command cannot be run
)

// submitOutcomeOf classifies a failure of sbatch with the given standard output.
func submitOutcomeOf(f *failure, stdout string) submitOutcome {
	if errors.Is(f.err, exec.ErrNotFound) {
		return notRunnable
	}
	var unrunnable *exec.Error
	if errors.As(f.err, &unrunnable) {
		return notRunnable
	}
	if _, printed := parseID(stdout); printed || f.timedOut || f.code < 0 {
		return unknownOutcome
	}
	for _, t := range transient {
		switch {
		case !strings.Contains(f.message, t.text):
		case t.notReceived:
			return retryable
		default:
			return unknownOutcome
		}
	}
	return neverAccepted
}

// pauses returns a function that waits between attempts, with growing intervals. After Options.Patience has
// passed, this function returns an error that matches ErrUnavailable and contains the last failure.
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

// retryQuery calls ask until it succeeds. It returns at once if the command cannot be run, or if final
// returns true for the failure.
func retryQuery[T any](ctx context.Context, s *Scheduler, ask func() (T, error), final func(*failure) bool) (T, error) {
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
		if submitOutcomeOf(f, "") == notRunnable {
			return answer, fmt.Errorf("%w: %w", benchrunner.ErrUnavailable, err)
		}
		if err := pause(ctx, err); err != nil {
			return answer, err
		}
	}
}

func noRetry(*failure) bool { return false }
