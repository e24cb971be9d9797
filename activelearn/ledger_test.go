package activelearn_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/preprocess"
)

// sweep returns a space with a single layout. Its points are broadcasts of 1, 2, 4 … bytes, and its
// algorithms are those of the synthetic machine.
func sweep(sizes int) *coll.Space {
	var points []coll.Point
	for i := range sizes {
		points = append(points, coll.Point{Collective: coll.Bcast, Nodes: 8, PPN: 2, MsgBytes: 1 << i})
	}
	return coll.NewSpace(points, testutil.SyntheticAlgorithms(), func(coll.Candidate) error { return nil })
}

// cube returns a space with several layouts. At points with fewer than two processes per node, one algorithm
// cannot run.
func cube(t *testing.T) *coll.Space {
	t.Helper()
	points := testutil.Must(coll.Grid{Nodes: []int{2, 3, 8}, PPN: []int{1, 4}, Sizes: []int64{1, 64, 4096, 65536}}.Points(coll.Bcast))(t)
	return coll.NewSpace(points, testutil.SyntheticAlgorithms(), func(c coll.Candidate) error {
		if c.Algorithm.Name == "halving" && c.PPN == 1 {
			return errors.New("cannot run there")
		}
		return nil
	})
}

// trial returns a trial in which the synthetic machine measures a candidate.
func trial(t *testing.T, c coll.Candidate) coll.Trial {
	t.Helper()
	for _, m := range testutil.SyntheticMeasurements([]coll.Point{c.Point}) {
		if m.Algorithm == c.Algorithm {
			return coll.Trial{Measurement: m, Attempt: 1, State: coll.TrialDone}
		}
	}
	t.Fatalf("no algorithm %v on the synthetic machine", c.Algorithm)
	return coll.Trial{}
}

func pend(t *testing.T, l *activelearn.Ledger, cs ...coll.Candidate) {
	t.Helper()
	for _, c := range cs {
		testutil.NoError(t, l.Pend(c))
	}
}

func record(t *testing.T, l *activelearn.Ledger, trials ...coll.Trial) {
	t.Helper()
	for _, tr := range trials {
		testutil.NoError(t, l.Record(tr))
	}
}

// measure marks candidates as pending and then records one trial of each. None of them may be measured or
// pending before.
func measure(t *testing.T, l *activelearn.Ledger, cs ...coll.Candidate) {
	t.Helper()
	pend(t, l, cs...)
	for _, c := range cs {
		record(t, l, trial(t, c))
	}
}

func TestLedgerCounts(t *testing.T) {
	s := sweep(2) // eight candidates
	l := activelearn.NewLedger(s)
	if l.FreeCount() != 8 || l.Trials() != 0 || l.PointsMeasured() != 0 {
		t.Fatalf("new ledger: %d left, %d trials, %d points, want 8, 0, 0", l.FreeCount(), l.Trials(), l.PointsMeasured())
	}
	here := s.At(0)

	pend(t, l, here[0], here[1])
	if l.FreeCount() != 6 || l.IsFree(here[0]) || !l.IsFree(here[2]) {
		t.Errorf("two pending: %d left, want 6", l.FreeCount())
	}
	if got := l.Free(0); !slices.Equal(got, here[2:]) {
		t.Errorf("Free(0) = %v, want %v", got, here[2:])
	}

	record(t, l, coll.Trial{
		Measurement: coll.Measurement{Candidate: here[0], Seconds: 1e-6, CostSeconds: 3},
		State:       coll.TrialDone,
	})
	failed := coll.Trial{Measurement: coll.Measurement{Candidate: here[1], CostSeconds: 2}, State: coll.TrialFailed}
	record(t, l, failed)
	if l.IsFree(here[1]) {
		t.Error("a failed candidate is free again, want it pending")
	}
	record(t, l, failed) // tried again, and given up
	l.Abandon(here[1])
	if l.IsFree(here[1]) || l.FreeCount() != 6 {
		t.Errorf("abandoned: free %t, %d left, want false, 6", l.IsFree(here[1]), l.FreeCount())
	}

	if l.Trials() != 3 || l.Failed() != 2 {
		t.Errorf("trials, failed = %d, %d, want 3, 2", l.Trials(), l.Failed())
	}
	if l.CostSeconds() != 7 || l.NodeSeconds() != 7*8 {
		t.Errorf("seconds, node-seconds = %g, %g, want 7, 56", l.CostSeconds(), l.NodeSeconds())
	}
	if ms := l.Measurements(); len(ms) != 1 || ms[0].Candidate != here[0] || l.PointsMeasured() != 1 {
		t.Errorf("measurements %v at %d points, want that of %v", ms, l.PointsMeasured(), here[0])
	}
}

// TestLedgerMissing checks that Missing returns the free and the pending algorithms, but not the abandoned
// ones.
func TestLedgerMissing(t *testing.T) {
	s := sweep(1)
	l := activelearn.NewLedger(s)
	p := s.Points()[0]
	at := s.At(0)
	names := func() []string {
		var out []string
		for _, a := range l.Missing(p) {
			out = append(out, a.Name)
		}
		return out
	}
	steps := []struct {
		do   func()
		want []string
	}{
		{func() {}, []string{"halving", "linear", "ring", "tree"}},
		{func() { pend(t, l, at[0]) }, []string{"halving", "linear", "ring", "tree"}},
		{func() { record(t, l, trial(t, at[0])) }, []string{"linear", "ring", "tree"}},
		{func() { pend(t, l, at[1]); l.Abandon(at[1]) }, []string{"ring", "tree"}},
		{func() { measure(t, l, at[2], at[3]) }, nil},
	}
	for i, step := range steps {
		step.do()
		if got := names(); !slices.Equal(got, step.want) {
			t.Errorf("after step %d: Missing() = %v, want %v", i, got, step.want)
		}
	}
	p.Nodes++
	if got := l.Missing(p); got != nil {
		t.Errorf("Missing() outside the space = %v, want none", got)
	}
}

func TestLedgerErrors(t *testing.T) {
	s := cube(t)
	l := activelearn.NewLedger(s)
	all := s.Candidates()
	elsewhere := all[0]
	elsewhere.Nodes = 77
	infeasible := all[0]
	infeasible.Algorithm = coll.Algorithm{Name: "halving"} // needs two processes per node, but its point has one
	pend(t, l, all[1], all[2], all[3])
	record(t, l, trial(t, all[2]))
	l.Abandon(all[3])

	tests := []struct {
		name                  string
		c                     coll.Candidate
		isFree, pendOK, endOK bool
	}{
		{name: "outside the space", c: elsewhere},
		{name: "cannot run there", c: infeasible},
		{name: "pending", c: all[1], endOK: true},
		{name: "done", c: all[2], pendOK: true, endOK: true}, // again
		{name: "abandoned", c: all[3]},
		{name: "free", c: all[0], isFree: true, pendOK: true, endOK: true}, // pended by then
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			left := l.FreeCount()
			if got := l.IsFree(tc.c); got != tc.isFree {
				t.Errorf("IsFree(%v) = %t, want %t", tc.c, got, tc.isFree)
			}
			if err := l.Pend(tc.c); (err == nil) != tc.pendOK {
				t.Errorf("Pend(%v) = %v, want an error: %t", tc.c, err, !tc.pendOK)
			}
			if took := left - l.FreeCount(); (took == 1) != tc.isFree || took > 1 {
				t.Errorf("Pend(%v) took %d free candidates", tc.c, took)
			}
			trials := l.Trials()
			err := l.Record(coll.Trial{Measurement: coll.Measurement{Candidate: tc.c, Seconds: 1}, State: coll.TrialDone})
			if (err == nil) != tc.endOK {
				t.Errorf("Record(%v) = %v, want an error: %t", tc.c, err, !tc.endOK)
			}
			if grew := l.Trials() - trials; (grew == 1) != tc.endOK || grew > 1 {
				t.Errorf("Record(%v) counted %d trials", tc.c, grew)
			}
		})
	}
}

// TestLedgerGrow checks that candidates keep their status when the space grows, and that additional
// candidates can be measured.
func TestLedgerGrow(t *testing.T) {
	sp := sweep(3)
	l := activelearn.NewLedger(sp)
	done, given, waiting := sp.At(0)[0], sp.At(1)[1], sp.At(2)[2]
	for _, c := range []coll.Candidate{done, given, waiting} {
		testutil.NoError(t, l.Pend(c))
	}
	testutil.NoError(t, l.Record(trial(t, done)))
	l.Abandon(given)
	seconds := l.CostSeconds()

	apart := coll.Algorithm{Name: "apart"}
	l.Grow(sp.With([]coll.Candidate{{Point: sp.Points()[0], Algorithm: apart}}, func(c coll.Candidate) error {
		if c.MsgBytes == 1 || c.Algorithm != apart {
			return errors.New("cannot run there") // the existing candidates must remain
		}
		return nil
	}))
	if got, want := l.FreeCount(), sp.Size()-3+2; got != want {
		t.Errorf("%d are free, want %d", got, want)
	}
	for _, c := range []coll.Candidate{done, given, waiting} {
		if l.IsFree(c) {
			t.Errorf("%v is free again", c)
		}
	}
	if got := l.Missing(waiting.Point); !slices.Contains(got, waiting.Algorithm) || !slices.Contains(got, apart) {
		t.Errorf("missing %v, want %v and %v among them", got, waiting.Algorithm, apart)
	}
	if len(l.Measurements()) != 1 || l.CostSeconds() != seconds || l.Trials() != 1 || !l.Excluded().Has(given) {
		t.Errorf("%d measurements for %g s in %d trials: want what there was", len(l.Measurements()), l.CostSeconds(), l.Trials())
	}
	if err := l.Record(trial(t, waiting)); err != nil {
		t.Errorf("what was asked for before cannot end: %v", err)
	}
	if l.IsFree(coll.Candidate{Point: sp.Points()[0], Algorithm: apart}) || !l.IsFree(coll.Candidate{Point: sp.Points()[1], Algorithm: apart}) {
		t.Error("the new algorithm is not where it can run")
	}
}

// TestLedgerSecondMeasurement checks that a candidate that is measured a second time keeps its first
// measurement. The second one becomes a replicate. If the second trial failed, only its cost is added.
func TestLedgerSecondMeasurement(t *testing.T) {
	l := activelearn.NewLedger(cube(t))
	all := l.Space().Candidates()
	pend(t, l, all[0], all[1])
	first := trial(t, all[0])
	record(t, l, first)
	record(t, l, trial(t, all[1]))
	pend(t, l, all[0], all[1])
	if l.IsDone(all[0]) || l.IsFree(all[0]) {
		t.Error("asked for again and still done, or free")
	}
	again := trial(t, all[0])
	again.Seconds *= 1.1
	record(t, l, again)
	failed := trial(t, all[1])
	failed.State = coll.TrialFailed
	record(t, l, failed)
	want := []preprocess.Replicate{{First: first.Measurement, Again: again.Measurement, Seen: 2}}
	if got := l.Replicates(); !slices.Equal(got, want) {
		t.Errorf("repeats %v, want %v", got, want)
	}
	if !l.IsDone(all[0]) || !l.IsDone(all[1]) || len(l.Measurements()) != 2 || l.Trials() != 4 || l.Failed() != 1 || l.FreeCount() != len(all)-2 {
		t.Errorf("%d measurements, %d trials, %d failed, %d left", len(l.Measurements()), l.Trials(), l.Failed(), l.FreeCount())
	}
	if got, want := l.CostSeconds(), first.CostSeconds+again.CostSeconds+2*failed.CostSeconds; math.Abs(got-want) > 1e-12 {
		t.Errorf("cost %g of four trials, want %g", got, want)
	}
}

// TestLedgerReplacesDisturbedMeasurement checks that the second time of a candidate replaces the first if it
// is faster than noise explains: the first measurement was disturbed. A slower second time replaces nothing.
// Slices that Measurements returned earlier must not change.
func TestLedgerReplacesDisturbedMeasurement(t *testing.T) {
	l := activelearn.NewLedger(cube(t))
	all := l.Space().Candidates()
	pend(t, l, all[:3]...)
	for _, c := range all[:3] {
		record(t, l, trial(t, c))
	}
	before := l.Measurements()
	pend(t, l, all[:3]...)
	want := slices.Clone(before)
	for i, factor := range []float64{0.5, 0.95, 2} {
		again := trial(t, all[i])
		again.Seconds *= factor
		record(t, l, again)
		if i == 0 {
			want[0] = again.Measurement
		}
	}
	if got := l.Measurements(); !slices.Equal(got, want) {
		t.Errorf("measurements %v, want %v", got, want)
	}
	if before[0].Seconds == want[0].Seconds {
		t.Error("a slice that was given out has changed")
	}
	if got := l.Replicates(); len(got) != 3 || got[0].First != before[0] || got[0].Again != want[0] {
		t.Errorf("repeats %v", got)
	}
}
