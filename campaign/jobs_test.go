package campaign_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/journal"
)

// jobRunner is a runner that measures every batch in one job. Tests can make it fail at any call of the log.
type jobRunner struct {
	machine  benchrunner.Runner
	calls    int        // number of calls of the log that succeed; negative: all succeed
	received []coll.Job // jobs that Run received in its batches
}

var errKilled = errors.New("killed")

type failingLog struct {
	benchrunner.Log
	runner *jobRunner
}

func (l failingLog) step(write func() error) error {
	if l.runner.calls == 0 {
		return errKilled
	}
	l.runner.calls--
	return write()
}

func (l failingLog) Job(j coll.Job) error     { return l.step(func() error { return l.Log.Job(j) }) }
func (l failingLog) Trial(t coll.Trial) error { return l.step(func() error { return l.Log.Trial(t) }) }

func (r *jobRunner) Run(ctx context.Context, batch benchrunner.Batch, log benchrunner.Log) error {
	r.received = append(r.received, batch.Jobs...)
	log = failingLog{log, r}
	job := coll.Job{Name: batch.Label + "-1", State: coll.JobIntended, Nodes: 2}
	for i := range batch.Requests {
		job.Requests = append(job.Requests, i)
	}
	if len(batch.Jobs) > 0 {
		job = batch.Jobs[0]
	}
	if job.State == coll.JobIntended {
		if err := log.Job(job); err != nil {
			return err
		}
		job.State, job.ID = coll.JobSubmitted, "7"
		if err := log.Job(job); err != nil {
			return err
		}
	}
	if err := r.machine.Run(ctx, batch, log); err != nil {
		return err
	}
	job.State = coll.JobEnded
	return log.Job(job)
}

// TestResumedRunnerGetsItsJobs kills a campaign at every step of its first round. The resumed campaign must give the
// runner the job as it was last written to the log. The trials must equal those of an uninterrupted run.
func TestResumedRunnerGetsItsJobs(t *testing.T) {
	s := spec("uncertainty")
	s.HPO = 0
	first := problem(t, replay.Options{Seed: 3})
	for _, r := range testutil.Must(campaign.FirstBatch(s, first))(t).Requests { // one round, whose last trial reaches the limit
		s.Limits.MachineSeconds += first.Truth[slices.IndexFunc(first.Truth, func(m coll.Measurement) bool { return m.Candidate == r.Candidate })].CostSeconds
	}
	s.Limits.MachineSeconds *= 1 - 1e-9
	run := func(r *jobRunner, records []journal.Record, log *memory) error {
		p := problem(t, replay.Options{Seed: 3})
		r.machine, p.Runner = p.Runner, r
		_, err := campaign.Run(context.Background(), s, p, past(p, records), log, nil)
		return err
	}
	whole := &memory{}
	testutil.NoError(t, run(&jobRunner{calls: -1}, nil, whole))
	trials := trialsOf(whole.records)
	steps := len(trials) + 3
	for step := range steps {
		log := &memory{}
		if err := run(&jobRunner{calls: step}, nil, log); !errors.Is(err, errKilled) {
			t.Fatalf("killed after %d steps: Run = %v, want %v", step, err, errKilled)
		}
		var want []coll.Job
		for _, r := range log.records {
			if r.Kind == journal.KindJob {
				want = []coll.Job{*r.Job}
			}
		}
		again := &jobRunner{calls: -1}
		if err := run(again, log.records, log); err != nil {
			t.Fatalf("killed after %d steps: resume: %v", step, err)
		}
		if diff := cmp.Diff(want, again.received); diff != "" {
			t.Errorf("killed after %d steps: jobs (-want +got):\n%s", step, diff)
		}
		if diff := cmp.Diff(trials, trialsOf(log.records), cmp.Comparer(func(a, b coll.Algorithm) bool { return a == b })); diff != "" {
			t.Errorf("killed after %d steps: trials (-want +got):\n%s", step, diff)
		}
	}
}

func trialsOf(records []journal.Record) []coll.Trial {
	var out []coll.Trial
	for _, r := range records {
		if r.Kind == journal.KindTrial {
			out = append(out, *r.Trial)
		}
	}
	return out
}

// TestFirstBatch checks that FirstBatch returns the batch that the first round measures.
func TestFirstBatch(t *testing.T) {
	log := &memory{}
	p := problem(t, replay.Options{Seed: 3})
	mustRun(t, spec("uncertainty"), p, log)
	batch := testutil.Must(campaign.FirstBatch(spec("uncertainty"), p))(t)
	if len(batch.Requests) != len(log.records[0].Batch) || batch.Round != 1 || batch.Label != "mpich-bcast" {
		t.Fatalf("FirstBatch = round %d of %s, %d requests, want round 1 of mpich-bcast, %d", batch.Round, batch.Label, len(batch.Requests), len(log.records[0].Batch))
	}
	for i, r := range batch.Requests {
		if r.Candidate != log.records[0].Batch[i] || r.Attempt != 1 || r.Ended {
			t.Errorf("request %d = %+v, want the first attempt at %v", i, r, log.records[0].Batch[i])
		}
	}
}
