package activelearn_test

import (
	"fmt"
	"slices"
	"testing"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/internal/testutil"
)

func strategy(t *testing.T, name string, seed uint64) activelearn.Strategy {
	t.Helper()
	return testutil.Must(activelearn.New(name, activelearn.Options{Seed: seed, Initial: 3}))(t)
}

func ask(t *testing.T, s activelearn.Strategy, l *activelearn.Ledger, round, want int) []coll.Candidate {
	t.Helper()
	return testutil.Must(s.Ask(activelearn.State{Round: round, Want: want, Ledger: l}))(t)
}

// TestStrategiesAskOnlyFreeCandidates checks that each strategy returns distinct free candidates. Some
// trials fail, and others are still running when the strategy is asked for the next batch.
func TestStrategiesAskOnlyFreeCandidates(t *testing.T) {
	for _, name := range activelearn.Names() {
		for seed := range uint64(3) {
			for _, want := range []int{1, 7, 1000} {
				t.Run(fmt.Sprintf("%s seed %d batches of %d", name, seed, want), func(t *testing.T) {
					l := activelearn.NewLedger(cube(t))
					first := batches(t, name, strategy(t, name, seed), l, want)
					if again := batches(t, name, strategy(t, name, seed), activelearn.NewLedger(cube(t)), want); !slices.EqualFunc(first, again, slices.Equal) {
						t.Errorf("same seed: batches\n%v and\n%v", first, again)
					}
					all := slices.Concat(first...)
					slices.SortFunc(all, coll.CompareCandidates)
					if want := l.Space().Candidates(); !slices.Equal(all, want) {
						t.Errorf("asked for %d candidates, want each of the space's %d once", len(all), len(want))
					}
				})
			}
		}
	}
}

// batches asks a strategy for batches until no candidate is free. It returns all batches.
func batches(t *testing.T, name string, s activelearn.Strategy, l *activelearn.Ledger, want int) [][]coll.Candidate {
	t.Helper()
	var out [][]coll.Candidate
	var running []coll.Candidate
	for round := 1; l.FreeCount() > 0; round++ {
		left := l.FreeCount()
		batch := ask(t, s, l, round, want)
		least := min(want, left)
		if activelearn.UsesPosterior(name) {
			least = min(least, 1) // more may cost too much
		}
		if len(batch) < least {
			t.Fatalf("round %d: %d candidates, want at least %d with %d left", round, len(batch), least, left)
		}
		pend(t, l, batch...) // fails for duplicates and for candidates that are not free
		for i, c := range slices.Concat(running, batch) {
			switch {
			case round == 1 || i%5 == 4: // the trials of the first batch do not end
				l.Abandon(c)
			case i >= len(running) && i%5 == 3:
				continue
			default:
				record(t, l, trial(t, c))
			}
		}
		running = running[:0]
		for _, c := range batch {
			if round > 1 && !l.IsFree(c) && slices.Contains(l.Missing(c.Point), c.Algorithm) {
				running = append(running, c)
			}
		}
		out = append(out, batch)
	}
	if batch := ask(t, s, l, 1000, want); len(batch) != 0 {
		t.Errorf("asked for %v with nothing left", batch)
	}
	return out
}

func TestSeedsDiffer(t *testing.T) {
	for _, name := range activelearn.Names() {
		a := ask(t, strategy(t, name, 1), activelearn.NewLedger(cube(t)), 1, 4)
		b := ask(t, strategy(t, name, 2), activelearn.NewLedger(cube(t)), 1, 4)
		if slices.Equal(a, b) {
			t.Errorf("%s: seeds 1 and 2 both begin with %v", name, a)
		}
	}
}

// TestInitialBatch checks that the first batch has all algorithms at Options.Initial points.
func TestInitialBatch(t *testing.T) {
	batch := ask(t, strategy(t, "uncertainty", 1), activelearn.NewLedger(sweep(10)), 1, 1)
	points := map[coll.Point]int{}
	for _, c := range batch {
		points[c.Point]++
	}
	if len(points) != 3 || len(batch) != 12 {
		t.Errorf("first batch has %d candidates at %d points, want 12 at 3", len(batch), len(points))
	}
}

// TestUncertaintySelectsDistantPoints checks that the strategy selects the most uncertain point: the right
// end of a line of points that is measured at its left end. The points of a batch must be spread over the
// unmeasured part of the line.
func TestUncertaintySelectsDistantPoints(t *testing.T) {
	s := sweep(25)
	for seed := range uint64(5) {
		l := activelearn.NewLedger(s)
		for i := range 6 {
			measure(t, l, s.At(i)...)
		}
		var got []int
		for i, c := range ask(t, strategy(t, "uncertainty", seed), l, 2, 3*4) {
			if i%4 == 0 {
				at, _ := s.Index(c.Point)
				got = append(got, at)
			}
		}
		if len(got) != 3 || got[0] != 24 {
			t.Fatalf("seed %d: points %v, want three that begin with the far end 24", seed, got)
		}
		slices.Sort(got)
		if got[0] < 9 || got[1]-got[0] < 3 || got[2]-got[1] < 3 {
			t.Errorf("seed %d: points %v, want them three apart or more and away from 0 to 5", seed, got)
		}
	}
}

// TestPendingChangesTheChoice checks that a pending candidate counts as measured. If a strategy's first
// choice is pending, the strategy must ask for its second choice.
func TestPendingChangesTheChoice(t *testing.T) {
	s := sweep(25)
	fresh := func() *activelearn.Ledger {
		l := activelearn.NewLedger(s)
		for i := range 6 {
			measure(t, l, s.At(3*i)...)
		}
		return l
	}
	both := ask(t, strategy(t, "uncertainty", 1), fresh(), 2, 8)
	l := fresh()
	pend(t, l, both[0]) // its point has three more candidates
	next := ask(t, strategy(t, "uncertainty", 1), l, 2, 1)
	if next[0].Point != both[4].Point {
		t.Errorf("next choice = %v, want %v", next[0].Point, both[4].Point)
	}
}

func TestNewErrorListsStrategies(t *testing.T) {
	_, err := activelearn.New("greedy", activelearn.Options{})
	testutil.GoldenErrors(t)("greedy", err)
}
