package campaign_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/journal"
)

// jobRunner carries every batch in one job, and can die between its steps.
type jobRunner struct {
	machine benchrunner.Runner
	die     int // calls of the log that succeed; negative: all
	given   []coll.Job
}

var errKilled = errors.New("killed")

type mortalLog struct {
	benchrunner.Log
	runner *jobRunner
}

func (l mortalLog) step(write func() error) error {
	if l.runner.die == 0 {
		return errKilled
	}
	l.runner.die--
	return write()
}

func (l mortalLog) Job(j coll.Job) error     { return l.step(func() error { return l.Log.Job(j) }) }
func (l mortalLog) Trial(t coll.Trial) error { return l.step(func() error { return l.Log.Trial(t) }) }

func (r *jobRunner) Run(ctx context.Context, batch benchrunner.Batch, log benchrunner.Log) error {
	r.given = append(r.given, batch.Jobs...)
	log = mortalLog{log, r}
	job := coll.Job{Name: batch.Label + "-1", State: coll.JobIntended, Nodes: 2}
	for i := range batch.Requests {
		job.Carries = append(job.Carries, i)
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

// Wherever a campaign is killed in its first round, the runner gets its job back
// in the state that the log knows, also when only the end of the job is missing,
// and the trials are those of an undisturbed run.
func TestJobsAreGivenBack(t *testing.T) {
	s := spec("uncertainty")
	s.HPO = 0
	s.Limits.MachineSeconds = 1e-9 // one round
	run := func(r *jobRunner, records []journal.Record, log *memory) error {
		p := problem(t, replay.Options{Seed: 3})
		r.machine, p.Runner = p.Runner, r
		_, err := campaign.Run(context.Background(), s, p, past(p, records), log, nil)
		return err
	}
	whole := &memory{}
	if err := run(&jobRunner{die: -1}, nil, whole); err != nil {
		t.Fatal(err)
	}
	trials := trialsOf(whole.records)
	steps := len(trials) + 3
	for die := range steps {
		log := &memory{}
		if err := run(&jobRunner{die: die}, nil, log); !errors.Is(err, errKilled) {
			t.Fatalf("dies after %d steps: Run = %v, want %v", die, err, errKilled)
		}
		var want []coll.Job
		for _, r := range log.records {
			if r.Kind == journal.KindJob {
				want = []coll.Job{*r.Job}
			}
		}
		again := &jobRunner{die: -1}
		if err := run(again, log.records, log); err != nil {
			t.Fatalf("dies after %d steps: resume: %v", die, err)
		}
		if diff := cmp.Diff(want, again.given); diff != "" {
			t.Errorf("dies after %d steps: jobs given back (-want +got):\n%s", die, diff)
		}
		if diff := cmp.Diff(trials, trialsOf(log.records), cmp.Comparer(func(a, b coll.Algorithm) bool { return a == b })); diff != "" {
			t.Errorf("dies after %d steps: trials (-want +got):\n%s", die, diff)
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

// What would be submitted first is what is submitted first.
func TestFirstBatch(t *testing.T) {
	log := &memory{}
	p := problem(t, replay.Options{Seed: 3})
	if _, err := campaign.Run(context.Background(), spec("uncertainty"), p, nil, log, nil); err != nil {
		t.Fatal(err)
	}
	batch, err := campaign.FirstBatch(spec("uncertainty"), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(batch.Requests) != len(log.records[0].Batch) || batch.Round != 1 || batch.Label != "mpich-bcast" {
		t.Fatalf("FirstBatch = round %d of %s, %d requests, want round 1 of mpich-bcast, %d", batch.Round, batch.Label, len(batch.Requests), len(log.records[0].Batch))
	}
	for i, r := range batch.Requests {
		if r.Candidate != log.records[0].Batch[i] || r.Attempt != 1 || r.Ended {
			t.Errorf("request %d = %+v, want the first attempt at %v", i, r, log.records[0].Batch[i])
		}
	}
}
