package pbs

import (
	"context"
	"maps"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

const forgets = "not configured to maintain job history"

// history runs a command that can also show ended jobs. On a server without a job history the option -x hides all
// jobs, so the command is then repeated without it.
func (s *Scheduler) history(ctx context.Context, name string, args ...string) (string, error) {
	if !s.noHistory.Load() {
		out, stderr, err := s.query(ctx, unknown, name, append([]string{"-x"}, args...)...)
		if err != nil || !strings.Contains(stderr, forgets) {
			return out, err
		}
		s.noHistory.Store(true)
	}
	out, _, err := s.query(ctx, unknown, name, args...)
	return out, err
}

// jobs returns the attributes of the jobs with the given IDs that the server knows. Older releases print JSON that
// is not valid; then the text form is read.
func (s *Scheduler) jobs(ctx context.Context, ids []string) (map[string]object, error) {
	out, err := s.history(ctx, "qstat", append([]string{"-E", "-f", "-F", "json"}, ids...)...)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(out) == "" {
		return nil, nil
	}
	found, err := parseJSON(out, "Jobs")
	if err == nil {
		return found, nil
	}
	if out, err = s.history(ctx, "qstat", append([]string{"-E", "-f", "-w"}, ids...)...); err != nil {
		return nil, err
	}
	return parseText(out), nil
}

// same reports whether a job is that of the submission: numbers of jobs begin again.
func (o object) same(sub benchrunner.Submission) bool {
	_, path, _ := strings.Cut(o["Output_Path"], ":")
	dir := filepath.Dir(path)
	if target, err := filepath.EvalSymlinks(sub.Dir); err == nil && dir == target {
		return o["Job_Name"] == sub.Name
	}
	return o["Job_Name"] == sub.Name && dir == sub.Dir
}

// Status implements benchrunner.Scheduler.
func (s *Scheduler) Status(ctx context.Context, jobs map[string]benchrunner.Submission) (map[string]benchrunner.Status, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	found, err := s.jobs(ctx, slices.Sorted(maps.Keys(jobs)))
	if err != nil {
		return nil, err
	}
	answer := map[string]benchrunner.Status{}
	for id, sub := range jobs {
		if o, ok := found[id]; ok && o.same(sub) && o["job_state"] != "M" {
			answer[id] = s.statusOf(id, o)
		}
	}
	return answer, nil
}

// neverAfter is how long PBS must say that a job can never run. The reason may be a resource that is down.
const neverAfter = 10 * time.Minute

func (s *Scheduler) statusOf(id string, o object) benchrunner.Status {
	status := benchrunner.Status{Phase: benchrunner.JobRunning, Reason: o["comment"], Submitted: parseTime(o["ctime"])}
	switch o["job_state"] {
	case "Q", "W", "T", "H":
		status.Phase = benchrunner.JobWaiting
		status.NeverStarts = s.neverStarts(id, o)
	case "F", "X":
		status.Phase = benchrunner.JobOver
		status.Started, status.Ended = parseTime(o["stime"]), parseTime(o["obittime"])
		if status.Ended.IsZero() {
			status.Ended = parseTime(o["mtime"])
		}
		status.Outcome = o.outcome()
	default:
		status.Started = parseTime(o["stime"])
	}
	return status
}

// outcome returns how a finished job ended. A job without a start was cancelled or rejected before it.
func (o object) outcome() coll.JobOutcome {
	switch code := o["Exit_status"]; {
	case o["substate"] == "91" || o["stime"] == "":
		return coll.JobCancelled
	case code == "0":
		return coll.JobCompleted
	case code == "-29":
		return coll.JobTimeout
	case code == "-20" || code == "-14":
		return coll.JobNodeFail
	case code == "-26" || code == "-27": // limits of virtual memory and memory
		return coll.JobOutOfMemory
	}
	return coll.JobFailed
}

// neverStarts reports whether a waiting job never starts: a person or the server holds it, or PBS has said for long
// that it can never run.
func (s *Scheduler) neverStarts(id string, o object) bool {
	if o["job_state"] == "H" {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !strings.HasPrefix(o["comment"], "Can Never Run") {
		delete(s.blocked, id)
		return false
	}
	since, known := s.blocked[id]
	if !known {
		since = s.now()
		s.blocked[id] = since
	}
	return s.now().Sub(since) >= neverAfter
}

// Find implements benchrunner.Scheduler. If several jobs have the name and the folder, because a submission was
// repeated although PBS had received it, it prefers one that runs, then one that ran, then one that waits.
func (s *Scheduler) Find(ctx context.Context, sub benchrunner.Submission) (string, bool, error) {
	me, err := user.Current()
	if err != nil {
		return "", false, err
	}
	out, err := s.history(ctx, "qselect", "-N", sub.Name, "-u", me.Username)
	ids := strings.Fields(out)
	if err != nil || len(ids) == 0 {
		return "", false, err
	}
	found, err := s.jobs(ctx, ids)
	best, rank := "", 3
	for _, id := range ids {
		o, ok := found[id]
		if !ok || !o.same(sub) {
			continue
		}
		at := 1
		switch s.statusOf(id, o).Phase {
		case benchrunner.JobRunning:
			at = 0
		case benchrunner.JobWaiting:
			at = 2
		}
		if at < rank {
			best, rank = id, at
		}
	}
	return best, best != "", err
}

// Cancel implements benchrunner.Scheduler. It compares the job's name first, since qdel does not.
func (s *Scheduler) Cancel(ctx context.Context, id string, sub benchrunner.Submission) error {
	found, err := s.jobs(ctx, []string{id})
	if err != nil {
		return err
	}
	if o, ok := found[id]; !ok || !o.same(sub) {
		return nil
	}
	_, _, err = s.query(ctx, over, "qdel", id)
	return err
}
