// Package runnertest has a suite of tests that every benchrunner.Runner must pass. Only tests import it.
//
//	runnertest.Run(t, runnertest.Case{New: newRunner, Good: good, Bad: bad})
package runnertest

import (
	"context"
	"errors"
	"testing"

	"tutti/benchrunner"
	"tutti/coll"
)

// Case is one runner under test, with candidates for its trials.
type Case struct {
	New  func(t *testing.T) benchrunner.Runner
	Good []coll.Candidate // at least two that the runner can measure
	Bad  coll.Candidate   // one that it cannot
}

// Run runs the suite.
func Run(t *testing.T, c Case) {
	t.Helper()
	if len(c.Good) < 2 {
		t.Fatal("runnertest: need two good candidates")
	}
	t.Run("one trial for each request", func(t *testing.T) { oneTrialEach(t, c) })
	t.Run("a failure is a trial", func(t *testing.T) { failureIsTrial(t, c) })
	t.Run("ended requests are left alone", func(t *testing.T) { endedLeftAlone(t, c) })
	t.Run("cancelled", func(t *testing.T) { cancelled(t, c) })
	t.Run("error of the log", func(t *testing.T) { errorOfDone(t, c) })
}

func requests(cands ...coll.Candidate) []benchrunner.Request {
	out := make([]benchrunner.Request, len(cands))
	for i, c := range cands {
		out[i] = benchrunner.Request{Candidate: c, Attempt: 1}
	}
	return out
}

func collect(t *testing.T, r benchrunner.Runner, reqs []benchrunner.Request) map[coll.Candidate]coll.Trial {
	t.Helper()
	got := map[coll.Candidate]coll.Trial{}
	err := r.Run(context.Background(), benchrunner.Batch{Round: 1, Requests: reqs}, benchrunner.TrialLog(func(tr coll.Trial) error {
		if _, twice := got[tr.Candidate]; twice {
			t.Errorf("%v ended twice", tr.Candidate)
		}
		got[tr.Candidate] = tr
		return nil
	}))
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return got
}

func oneTrialEach(t *testing.T, c Case) {
	got := collect(t, c.New(t), requests(c.Good...))
	for _, cand := range c.Good {
		tr, ok := got[cand]
		if !ok {
			t.Errorf("%v has no trial", cand)
			continue
		}
		if tr.State != coll.TrialDone || tr.Attempt != 1 {
			t.Errorf("%v: state %s, attempt %d (%s), want done at the first", cand, tr.State, tr.Attempt, tr.Error)
		}
		if err := tr.Measurement.Validate(); err != nil {
			t.Error(err)
		}
	}
	if len(got) != len(c.Good) {
		t.Errorf("%d trials for %d requests", len(got), len(c.Good))
	}
}

func failureIsTrial(t *testing.T, c Case) {
	got := collect(t, c.New(t), requests(c.Bad, c.Good[0]))
	if tr := got[c.Bad]; tr.State != coll.TrialFailed || tr.Error == "" || tr.Phase == "" {
		t.Errorf("bad candidate: %+v, want failed with phase and error", tr)
	}
	if tr := got[c.Good[0]]; tr.State != coll.TrialDone {
		t.Errorf("good candidate next to a bad one: %+v, want done", tr)
	}
}

func endedLeftAlone(t *testing.T, c Case) {
	reqs := requests(c.Good[:2]...)
	reqs[0].Ended = true
	got := collect(t, c.New(t), reqs)
	if _, ran := got[c.Good[0]]; ran || len(got) != 1 {
		t.Errorf("trials %v, want just %v", got, c.Good[1])
	}
}

func cancelled(t *testing.T, c Case) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := c.New(t).Run(ctx, benchrunner.Batch{Round: 1, Requests: requests(c.Good...)}, benchrunner.TrialLog(func(coll.Trial) error { return nil }))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Run after cancel = %v, want context.Canceled", err)
	}
}

func errorOfDone(t *testing.T, c Case) {
	broken := errors.New("disk full")
	calls := 0
	err := c.New(t).Run(context.Background(), benchrunner.Batch{Round: 1, Requests: requests(c.Good...)}, benchrunner.TrialLog(func(coll.Trial) error {
		calls++
		return broken
	}))
	if !errors.Is(err, broken) || calls != 1 {
		t.Errorf("Run = %v after %d calls, want the error of the log after one", err, calls)
	}
}
