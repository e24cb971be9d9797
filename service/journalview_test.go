package service

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/journal"
)

// lines turns records into the events of a journal.
func lines(t *testing.T, records ...journal.Record) []Event {
	t.Helper()
	var out []Event
	for i, r := range records {
		r.Time = time.Date(2026, 3, 1, 0, 0, i, 0, time.UTC)
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, Event{Seq: int64(i) + 2, Type: string(r.Kind), Time: r.Time, Data: line})
	}
	return out
}

// The summary of a journal with jobs of all states, failures of all phases and two problems.
func TestSummary(t *testing.T) {
	one, two := journal.Problem{Library: "mpich", Collective: coll.Bcast}, journal.Problem{Library: "mpich", Collective: coll.Reduce}
	candidate := coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 1, MsgBytes: 8}, Algorithm: coll.Algorithm{Name: "binomial"}}
	job := func(name string, state coll.JobState) journal.Record {
		return journal.Record{Kind: journal.KindJob, Problem: one, Round: 1, Job: &coll.Job{Name: name, State: state, ID: "1", Carries: []int{0}}}
	}
	trial := func(p journal.Problem, phase string) journal.Record {
		tr := coll.Trial{Measurement: coll.Measurement{Candidate: candidate, Seconds: 1, CostSeconds: 2}, State: coll.TrialDone, Phase: phase}
		if phase != "" {
			tr.State = coll.TrialFailed
		}
		return journal.Record{Kind: journal.KindTrial, Problem: p, Round: 1, Trial: &tr}
	}
	judged := func(p journal.Problem, round int, slowdown, mistakes float64) journal.Record {
		return journal.Record{Kind: journal.KindEvaluation, Problem: p, Round: round, Evaluation: &activelearn.Evaluation{Round: round, Slowdown: slowdown, Mistakes: mistakes}}
	}
	d := newSummary()
	header := `{"kind":"header","spec":{"libraries":[{"name":"mpich"}],"collectives":["bcast","reduce","scan"]}}`
	events := append([]Event{{Seq: 1, Type: "header", Data: json.RawMessage(header)}}, lines(t,
		journal.Record{Kind: journal.KindBatch, Problem: one, Round: 1, Batch: []coll.Candidate{candidate, candidate}, Reasons: []activelearn.Reason{{Uncertainty: 0.5}, {Uncertainty: 0.25}}},
		job("a", coll.JobIntended), job("b", coll.JobIntended), job("a", coll.JobSubmitted), job("c", coll.JobEnded),
		trial(one, ""), trial(one, "run"), trial(one, "run"), trial(one, "launch"),
		job("a", coll.JobEnded), job("a", coll.JobEnded),
		judged(one, 1, 1.5, 0.5), trial(two, ""), judged(two, 1, 1.2, 0.6), judged(one, 2, 1.1, 0.1),
		journal.Record{Kind: journal.KindStop, Problem: one, Stop: "converged"}, journal.Record{Kind: journal.KindStop, Problem: two, Stop: "budget"},
		journal.Record{Kind: journal.KindResume},
	)...)
	for _, e := range events {
		if err := d.add(e); err != nil {
			t.Fatal(err)
		}
	}
	want := Progress{
		Records: int64(len(events)), Rounds: 1, Trials: 5, FailedTrials: 3, Failures: map[string]int{"run": 2, "launch": 1}, Problems: 3, Converged: 1,
		MachineSeconds: 10, NodeSeconds: 40, Slowdown: 1.2, Mistakes: 0.6, Jobs: 1,
	}
	if got := d.Progress(); !reflect.DeepEqual(got, want) {
		t.Errorf("progress is %+v, want %+v", got, want)
	}
	jobs := d.Jobs()
	if len(jobs) != 3 || jobs[0].State != coll.JobEnded || jobs[1].State != coll.JobIntended || !jobs[0].Changed.After(jobs[0].Begun) {
		t.Errorf("jobs are %+v", jobs)
	}
	rounds := d.Rounds()
	if first := rounds[0]; len(rounds) != 3 || first.Done != 1 || first.Failed != 3 || first.Batch[1].Reason.Uncertainty != 0.25 || first.Evaluation.Slowdown != 1.5 {
		t.Errorf("rounds are %+v", rounds)
	}
	if got := d.evaluatedRound(one); got != 2 {
		t.Errorf("the last evaluation is of round %d, want 2", got)
	}
	if err := d.add(Event{Seq: 99, Type: "trial", Data: json.RawMessage(`{"trial":7}`)}); err == nil {
		t.Error("a line that is no record is taken")
	}
}
