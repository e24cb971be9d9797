package slurm

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/lazyregexp"
)

// Status implements benchrunner.Scheduler. One call of squeue returns the status of all jobs in the queue. Status
// searches Slurm's accounting for the other jobs. An ended job may appear there late.
func (s *Scheduler) Status(ctx context.Context, jobs map[string]benchrunner.Submission) (map[string]benchrunner.Status, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	answer, err := s.inQueue(ctx, jobs)
	if err != nil {
		return nil, err
	}
	missing := slices.DeleteFunc(slices.Sorted(maps.Keys(jobs)), func(id string) bool {
		_, known := answer[id]
		return known
	})
	if len(missing) == 0 {
		return answer, nil
	}
	rows, err := s.accounts(ctx, "--jobs="+strings.Join(missing, ","))
	for _, r := range rows { // the last row of a job is the newest
		if r.same(jobs[r.id]) && phaseOf(r.state) == benchrunner.JobOver && slices.Contains(missing, r.id) {
			answer[r.id] = statusOf(r, "", r.last)
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, errNoAccounts):
		return answer, nil
	}
	return answer, err
}

func (s *Scheduler) inQueue(ctx context.Context, jobs map[string]benchrunner.Submission) (map[string]benchrunner.Status, error) {
	rows, err := s.queue(ctx)
	if err != nil {
		return nil, err
	}
	answer := map[string]benchrunner.Status{}
	for _, r := range rows {
		if sub, asked := jobs[r.id]; asked && r.same(sub) {
			answer[r.id] = s.fromQueue(ctx, r, sub)
		}
	}
	return answer, nil
}

// fromQueue returns the status of a job that squeue shows. For a completed job it asks
// scontrol whether a step failed.
func (s *Scheduler) fromQueue(ctx context.Context, r row, sub benchrunner.Submission) benchrunner.Status {
	worst := ""
	if r.state == "COMPLETED" {
		if out, err := s.query(ctx, "scontrol", "--details", "--oneliner", "show", "job", r.id); err == nil {
			worst = derivedExitCode(out, sub.Name)
		}
	}
	return statusOf(r, r.last, worst)
}

// statusOf returns the status that a row describes. `reason` is Slurm's reason for waiting or for the end.
// `worst` is the highest exit code of a step in the form code:signal, "" if unknown.
func statusOf(r row, reason, worst string) benchrunner.Status {
	status := benchrunner.Status{Phase: phaseOf(r.state), Submitted: r.submitted}
	if reason == "" || reason == "None" {
		reason = r.state
	} else if status.Phase == benchrunner.JobOver {
		reason = r.state + ": " + reason
	}
	status.Reason = reason
	switch status.Phase {
	case benchrunner.JobWaiting: // the start and end of a waiting job are estimates
		if requeuedAndHeld(r.state, r.last) {
			status.Phase, status.Outcome, status.Reason = benchrunner.JobOver, coll.JobCancelled, "requeued and held: "+reason
		}
		status.NeverStarts = neverStarts(r.last)
	case benchrunner.JobRunning:
		status.Started = r.started
	case benchrunner.JobOver:
		status.Started, status.Ended = r.started, r.ended
		status.Outcome = outcomes[r.state]
		status.NeverStarts = status.Outcome == coll.JobFailed && permanentPendReasons[r.last]
		if status.Outcome == coll.JobCompleted && worst != "" && worst != "0:0" {
			status.Outcome = coll.JobFailed
			status.Reason += ", but a step ended with " + worst
		}
	}
	return status
}

var derived = lazyregexp.New(`^JobId=[0-9]+ JobName=(\S+) .*? DerivedExitCode=([0-9]+:[0-9]+) `)

// derivedExitCode returns the highest exit code of a job's steps in the form code:signal. `text` is the
// output of scontrol show job. It returns "" if the job in the text has another name.
func derivedExitCode(text, name string) string {
	m := derived.FindStringSubmatch(text)
	if m == nil || m[1] != name {
		return ""
	}
	return m[2]
}
