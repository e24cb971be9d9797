package slurm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// lastStatus is the last known status of a job, for the time in which Slurm does not show the job.
type lastStatus struct {
	name   string
	status benchrunner.Status
	since  time.Time // time since which Slurm does not show the job; zero while it does
}

// Status implements benchrunner.Scheduler. One call of squeue returns the status of all jobs in the queue.
// Status searches the accounts, if there are any, for jobs that are not in the queue. A job in neither of
// them keeps its last status for a minute, since rows reach the accounts late.
func (s *Scheduler) Status(ctx context.Context, jobs map[string]benchrunner.Submission) (map[string]benchrunner.Status, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	answer, err := s.inQueue(ctx, jobs)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, id := range slices.Sorted(maps.Keys(jobs)) {
		if _, known := answer[id]; !known {
			missing = append(missing, id)
		}
	}
	over, silent := s.inAccounts(ctx, jobs, missing)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	maps.Copy(answer, over)
	s.remember(answer, jobs)
	for _, id := range missing {
		if _, known := answer[id]; known {
			continue
		}
		if last, patient := s.missed(id, jobs[id].Name, silent); patient {
			answer[id] = last
		}
	}
	return answer, nil
}

// inQueue returns the status of the jobs that squeue shows.
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

// inAccounts returns the outcomes of jobs that are not in the queue, from the rows of Slurm's accounting.
// The error says why accounting did not answer.
func (s *Scheduler) inAccounts(ctx context.Context, jobs map[string]benchrunner.Submission, missing []string) (map[string]benchrunner.Status, error) {
	if len(missing) == 0 {
		return nil, nil
	}
	rows, err := s.accounts(ctx, "--jobs="+strings.Join(missing, ","))
	answer := map[string]benchrunner.Status{}
	for _, r := range rows { // the last row of a job is the newest
		if sub := jobs[r.id]; r.same(sub) && phaseOf(r.state) == benchrunner.JobOver && slices.Contains(missing, r.id) {
			answer[r.id] = statusOf(r, "", r.last)
		}
	}
	return answer, err
}

// remember stores the status of the jobs that are not over.
func (s *Scheduler) remember(answer map[string]benchrunner.Status, jobs map[string]benchrunner.Submission) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, status := range answer {
		if status.Phase == benchrunner.JobOver {
			delete(s.watched, id)
		} else {
			s.watched[id] = lastStatus{name: jobs[id].Name, status: status}
		}
	}
}

// silence is how long a job may be unknown while accounting does not answer.
const silence = 10 * time.Minute

// missed returns the last status of a job that Slurm does not show. It returns false if the job has been
// missing for too long. The allowed time is longer if accounting did not answer than if accounting has no
// row of the job.
func (s *Scheduler) missed(id, name string, silent error) (benchrunner.Status, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.watched[id]
	if w.name != name {
		w = lastStatus{name: name, status: benchrunner.Status{Phase: benchrunner.JobWaiting}}
	}
	if w.since.IsZero() {
		w.since = s.now()
	}
	limit, reason := s.absence, "squeue no longer shows the job"
	if silent != nil && !errors.Is(silent, errNoAccounts) {
		limit, reason = max(s.absence, silence), fmt.Sprintf("%s, %v", reason, silent)
	}
	s.watched[id] = w
	if s.now().Sub(w.since) >= limit {
		return benchrunner.Status{}, false
	}
	w.status.Reason, w.status.NeverStarts = reason, false
	return w.status, true
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

// statusOf returns the status that a row describes. reason is Slurm's reason for waiting or for the end.
// worst is the highest exit code of a step in the form code:signal, "" if unknown.
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
		status.NeverStarts = neverStarts(r.state, r.last)
	case benchrunner.JobRunning:
		status.Started = r.started
	case benchrunner.JobOver:
		status.Started, status.Ended = r.started, r.ended
		status.Outcome = outcomes[r.state]
		if status.Outcome == coll.JobCompleted && worst != "" && worst != "0:0" {
			status.Outcome = coll.JobFailed
			status.Reason += ", but a step ended with " + worst
		}
	}
	return status
}

var derived = regexp.MustCompile(`^JobId=[0-9]+ JobName=(\S+) .*? DerivedExitCode=([0-9]+:[0-9]+) `)

// derivedExitCode returns the highest exit code of a job's steps in the form code:signal. text is the
// output of scontrol show job. It returns "" if the job in the text has another name.
func derivedExitCode(text, name string) string {
	m := derived.FindStringSubmatch(text)
	if m == nil || m[1] != name {
		return ""
	}
	return m[2]
}
