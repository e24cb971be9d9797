package slurm

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutti/benchrunner"
)

// accountDays is the number of past days in which sacct searches for a job by its name.
const accountDays = 60

// errNoAccounts reports that the cluster has no accounting. On such a cluster sacct prints noAccounts.
var errNoAccounts = errors.New("the cluster keeps no accounts")

const noAccounts = "Slurm accounting storage is disabled"

// queue returns all jobs of this user that the controller knows, including jobs that ended some minutes ago.
// `more` has further options of squeue.
func (s *Scheduler) queue(ctx context.Context, more ...string) ([]row, error) {
	args := append([]string{"--noheader", "--all", "--states=all", "--user=" + strconv.Itoa(os.Getuid()), "--format=" + squeueColumns}, more...)
	out, err := s.query(ctx, "squeue", args...)
	if err != nil {
		return nil, err
	}
	return parseRows(out), nil
}

// accounts returns sacct's rows of jobs, oldest first. On a cluster without accounting it returns
// errNoAccounts; it checks this only once.
func (s *Scheduler) accounts(ctx context.Context, which ...string) ([]row, error) {
	if s.noAccounts.Load() {
		return nil, errNoAccounts
	}
	args := append([]string{"--noheader", "--parsable2", "--delimiter=" + separator, "--allocations", "--duplicates", "--format=" + sacctColumns}, which...)
	out, err := s.query(ctx, "sacct", args...)
	var f *failure
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) || errors.As(err, &f) && strings.Contains(f.Message, noAccounts) {
		s.noAccounts.Store(true)
		return nil, errNoAccounts
	}
	if err != nil {
		return nil, err
	}
	return parseRows(out), nil
}

func (r row) same(sub benchrunner.Submission) bool {
	return r.name == sub.Name && (r.dir == sub.Dir || r.dir == "")
}

// named returns the rows of the queue that belong to the submission. The first row is the job that most likely
// does the measurements. There are several rows only if a submission was repeated although Slurm had received it.
func (s *Scheduler) named(ctx context.Context, sub benchrunner.Submission) ([]row, error) {
	rows, err := s.queue(ctx, "--name="+sub.Name)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return !r.same(sub) })
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(
			cmp.Compare(a.preference(), b.preference()),
			a.started.Compare(b.started),
			a.submitted.Compare(b.submitted),
			cmp.Compare(len(a.id), len(b.id)),
			cmp.Compare(a.id, b.id),
		)
	})
	return rows, nil
}

// preference returns a number by which jobs with the same name are ordered. Running jobs come first, then jobs that
// ran, waiting jobs, and jobs that ended at once. A job of the last kind was rejected, cancelled before its start,
// or found its folder claimed by another job.
func (r row) preference() int {
	switch phaseOf(r.state) {
	case benchrunner.JobRunning:
		return 0
	case benchrunner.JobWaiting:
		return 2
	}
	if r.ended.After(r.started) {
		return 1
	}
	return 3
}

// Find implements benchrunner.Scheduler. It searches for a job by its name, first in the queue and then in the
// accounts.
func (s *Scheduler) Find(ctx context.Context, sub benchrunner.Submission) (string, bool, error) {
	rows, err := s.named(ctx, sub)
	if err != nil {
		return "", false, err
	}
	if len(rows) > 0 {
		return rows[0].id, true, nil
	}
	since := s.now().UTC().AddDate(0, 0, -accountDays).Format(time.DateOnly)
	rows, err = s.accounts(ctx, "--name="+sub.Name, "--user="+strconv.Itoa(os.Getuid()), "--starttime="+since)
	if err != nil && !errors.Is(err, errNoAccounts) {
		return "", false, err
	}
	for _, r := range slices.Backward(rows) {
		if r.same(sub) {
			return r.id, true, nil
		}
	}
	return "", false, nil
}

// Cancel implements benchrunner.Scheduler. It passes the job's name to scancel as well as the ID. scancel then
// does not cancel another job that got the same ID after the cluster lost its state.
func (s *Scheduler) Cancel(ctx context.Context, id string, sub benchrunner.Submission) error {
	_, err := s.query(ctx, "scancel", "--name="+sub.Name, id)
	if f, ok := errors.AsType[*failure](err); ok && strings.Contains(f.Message, "Invalid job id specified") {
		return nil
	}
	return err
}
