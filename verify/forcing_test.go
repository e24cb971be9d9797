package verify_test

import (
	"context"
	"strings"
	"testing"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/verify"
)

// fakeProbe simulates a probe. The field says is the error of each trial. It is empty if the library obeys
// the file.
type fakeProbe struct {
	says  string
	asked int
}

func (w *fakeProbe) Run(_ context.Context, b benchrunner.Batch, log benchrunner.Log) error {
	w.asked++
	for _, r := range b.Requests {
		t := coll.Trial{Measurement: coll.Measurement{Candidate: r.Candidate, Seconds: 1, CostSeconds: 1}, Attempt: r.Attempt, State: coll.TrialDone}
		if w.says != "" {
			t.Seconds, t.State, t.Phase, t.Error = 0, coll.TrialFailed, "run", w.says
		}
		if err := log.Trial(t); err != nil {
			return err
		}
	}
	return nil
}

// TestIgnoredFiles checks a library that ignores its files. It is not measured, and the result names the
// algorithm that ran instead. Once the library obeys, the verification continues.
func TestIgnoredFiles(t *testing.T) {
	rows := rowsOf([]int{2}, []int64{64, 4096, 65536}, coll.Bcast)
	m := &machine{seed: 1, ran: map[string]int{}, ratio: func(coll.Point) float64 { return 0.8 }}
	opt := verify.Options{Library: "lib", Rules: rules(1)}
	log := &memory{}

	stubborn := &fakeProbe{says: "another algorithm ran: binomial instead of ring"}
	res := testutil.Must(verifyAll(t.Context(), opt, &fileWriter{machine: m, rows: rows, probe: stubborn}, log))(t)
	if d := res.Ignored(); len(d) == 0 || !strings.Contains(d[0].Note, "binomial instead of ring") {
		t.Errorf("ignored: %+v, want what ran instead", d)
	}
	if res.Ended || res.Proved() || len(m.ran) > 0 {
		t.Errorf("ended: %t, proved: %t, %d candidates measured, want nothing of it", res.Ended, res.Proved(), len(m.ran))
	}

	obedient := &fakeProbe{}
	res = testutil.Must(verifyAll(t.Context(), opt, &fileWriter{machine: m, rows: rows, probe: obedient}, log))(t)
	if obedient.asked != 1 || len(res.Ignored()) > 0 || !res.Proved() {
		t.Errorf("asked %d times, ignored %+v, proved %t, want proved after one check", obedient.asked, res.Ignored(), res.Proved())
	}
}

// TestNotObservable checks that a library is verified even if its algorithms cannot be observed.
func TestNotObservable(t *testing.T) {
	rows := rowsOf([]int{2}, []int64{64, 4096}, coll.Bcast)
	m := &machine{seed: 1, ran: map[string]int{}, ratio: func(coll.Point) float64 { return 0.8 }}
	res := testutil.Must(verifyAll(t.Context(), verify.Options{Library: "lib", Rules: rules(1)}, &fileWriter{machine: m, rows: rows, probe: &fakeProbe{says: "the error names no algorithm"}}, &memory{}))(t)
	for _, s := range res.ForcingChecks {
		if s.State != verify.NotObservable {
			t.Errorf("%v: %s, want not observable", s.TestPoint, s.State)
		}
	}
	if len(res.ForcingChecks) == 0 || !res.Proved() {
		t.Errorf("%d checks, proved %t, want some and a proof", len(res.ForcingChecks), res.Proved())
	}
}
