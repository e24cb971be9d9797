package service

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/journal"
)

// lines returns the events that the service makes of a journal with these records.
func lines(t *testing.T, records ...journal.Record) []Event {
	t.Helper()
	var out []Event
	for i, r := range records {
		r.Time = time.Date(2026, 3, 1, 0, 0, i, 0, time.UTC)
		line := testutil.Must(json.Marshal(r))(t)
		out = append(out, Event{Seq: int64(i) + 2, Type: string(r.Kind), Time: r.Time, Data: line})
	}
	return out
}

// TestSummary checks the summary of a journal with jobs in all states, failed trials, two problems, and launches that
// read the settings of the machine. Such launches cost machine time; they are no rounds, trials or problems.
func TestSummary(t *testing.T) {
	one, two := journal.Problem{Library: "mpich", Collective: coll.Bcast}, journal.Problem{Library: "mpich", Collective: coll.Reduce}
	candidate := coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 1, MsgBytes: 8}, Algorithm: coll.Algorithm{Name: "binomial"}}
	job := func(name string, state coll.JobState) journal.Record {
		return journal.Record{Kind: journal.KindJob, Problem: one, Round: 1, Job: &coll.Job{Name: name, State: state, ID: "1", Requests: []int{0}}}
	}
	trial := func(p journal.Problem, phase string) journal.Record {
		tr := coll.Trial{Measurement: coll.Measurement{Candidate: candidate, Seconds: 1, CostSeconds: 2}, State: coll.TrialDone, Phase: phase}
		if phase != "" {
			tr.State = coll.TrialFailed
		}
		return journal.Record{Kind: journal.KindTrial, Problem: p, Round: 1, Trial: &tr}
	}
	settings := journal.Problem{Library: "mpich", Collective: journal.Preflight}
	preflightJob := func(state coll.JobState) journal.Record {
		r := job("preflight", state)
		r.Problem = settings
		return r
	}
	judged := func(p journal.Problem, round int, slowdown, mistakes float64) journal.Record {
		return journal.Record{Kind: journal.KindEvaluation, Problem: p, Round: round, Evaluation: &activelearn.Evaluation{Round: round, Slowdown: slowdown, Mistakes: mistakes}}
	}
	d := newJournalView("", clockwork.NewRealClock())
	header := `{"kind":"header","spec":{"libraries":[{"name":"mpich"}],"collectives":["bcast","reduce","scan"]}}`
	events := append([]Event{{Seq: 1, Type: "header", Data: json.RawMessage(header)}}, lines(t,
		journal.Record{Kind: journal.KindBatch, Problem: settings, Round: 1, Batch: []coll.Candidate{candidate}},
		preflightJob(coll.JobIntended), preflightJob(coll.JobSubmitted), trial(settings, "launch"), preflightJob(coll.JobEnded),
		journal.Record{Kind: journal.KindBatch, Problem: settings, Round: 2, Batch: []coll.Candidate{candidate}}, trial(settings, ""),
		journal.Record{Kind: journal.KindBatch, Problem: one, Round: 1, Batch: []coll.Candidate{candidate, candidate}},
		job("a", coll.JobIntended), job("b", coll.JobIntended), job("a", coll.JobSubmitted), job("c", coll.JobEnded),
		trial(one, ""), trial(one, "run"), trial(one, "run"), trial(one, "launch"),
		job("a", coll.JobEnded), job("a", coll.JobEnded),
		judged(one, 1, 1.5, 0.5), trial(two, ""), judged(two, 1, 1.2, 0.6), judged(one, 2, 1.1, 0.1),
		journal.Record{Kind: journal.KindStop, Problem: one, Stop: "converged"}, journal.Record{Kind: journal.KindStop, Problem: two, Stop: "budget"},
		journal.Record{Kind: journal.KindResume},
	)...)
	for _, e := range events {
		testutil.NoError(t, d.add(e))
	}
	measured := 0
	for _, e := range events {
		if _, ok, err := parseMeasurement(e); err != nil {
			t.Error(err)
		} else if ok {
			measured++
		}
	}
	if measured != 2 {
		t.Errorf("%d measurements, want those of the two problems", measured)
	}
	want := Progress{
		Records: int64(len(events)), Rounds: 1, Trials: 5, FailedTrials: 3, Failures: map[string]int{"run": 2, "launch": 1}, Problems: 3, Converged: 1,
		MachineSeconds: 14, NodeSeconds: 56, Slowdown: 1.2, Mistakes: 0.6, Jobs: 1,
	}
	if got := d.progress(); !reflect.DeepEqual(got, want) {
		t.Errorf("progress is %+v, want %+v", got, want)
	}
	if got := d.evaluatedRound(one); got != 2 {
		t.Errorf("the last evaluation is of round %d, want 2", got)
	}
	if err := d.add(Event{Seq: 99, Type: "trial", Data: json.RawMessage(`{"trial":7}`)}); err == nil {
		t.Error("a line that is no record is taken")
	}
}

// TestCancelledUpdate checks that reading a journal stops when its context ends, and that the next call
// continues where it stopped. A cancelled reading does not make the journal unreadable.
func TestCancelledUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), journal.FileName)
	text := strings.Repeat(`{"kind":"resume","time":"2026-03-01T00:00:00Z"}`+"\n", 100)
	testutil.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	v := newJournalView(path, clockwork.NewRealClock())
	ctx, cancel := context.WithCancel(t.Context())
	err := v.log.update(ctx, func(e Event) error {
		if e.Seq == 10 {
			cancel()
		}
		return v.add(e)
	})
	if !errors.Is(err, context.Canceled) || v.log.Last() != 10 {
		t.Errorf("%d lines read, error %v: want 10 lines and a cancelled context", v.log.Last(), err)
	}
	if err := v.update(ctx); !errors.Is(err, context.Canceled) || v.log.Last() != 10 || v.failure() != nil {
		t.Errorf("%d lines read, error %v, failure %v: want nothing read and no failure", v.log.Last(), err, v.failure())
	}
	if err := v.update(t.Context()); err != nil || v.progress().Records != 100 {
		t.Errorf("%d records, error %v: want all 100", v.progress().Records, err)
	}
}

// TestSpending checks that daySpending keeps the latest day only, and that a time in the future counts as now. A day
// must end at midnight, local time.
func TestSpending(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	var s daySpending
	steps := []struct {
		name        string
		at          time.Time
		add         float64
		first, next float64 // expected spending on March 1 and 2 after the step
	}{
		{"the first", noon, 2, 2, 0},
		{"the same day", noon.Add(11 * time.Hour), 3, 5, 0},
		{"in another zone", noon.Add(11 * time.Hour).UTC(), 1, 6, 0},
		{"the next day, seen on the first", noon.Add(13 * time.Hour), 4, 10, 0},
		{"the next day", noon.Add(13 * time.Hour), 4, 4, 4},
		{"earlier day", noon, 8, 12, 12},
	}
	for _, st := range steps {
		now := noon.Add(11 * time.Hour)
		if st.name == "the next day" {
			now = noon.Add(14 * time.Hour)
		}
		s.add(st.at, now, st.add)
		if first, next := s.on("2026-03-01"), s.on("2026-03-02"); first != st.first || next != st.next {
			t.Errorf("%s: %g and %g, want %g and %g", st.name, first, next, st.first, st.next)
		}
	}
	for _, at := range []time.Time{noon, noon.Add(12*time.Hour - time.Nanosecond), noon.Add(-12 * time.Hour)} {
		if got, want := nextDay(at), time.Date(2026, 3, 2, 0, 0, 0, 0, time.Local); !got.Equal(want) {
			t.Errorf("nextDay(%v) = %v, want %v", at, got, want)
		}
	}
}
