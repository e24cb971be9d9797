package lab

import (
	"slices"
	"testing"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/internal/testutil"
)

// line returns a space of broadcasts whose message sizes are powers of two.
func line(sizes int, algorithms []coll.Algorithm) *coll.Space {
	var points []coll.Point
	for i := range sizes {
		points = append(points, coll.Point{Collective: coll.Bcast, Nodes: 8, PPN: 2, MsgBytes: 1 << i})
	}
	return coll.NewSpace(points, algorithms, func(coll.Candidate) error { return nil })
}

// makeRival returns the strategy with this name. Its forests have few trees, so that tests are fast.
func makeRival(t *testing.T, name string, seed uint64, same bool) activelearn.Strategy {
	t.Helper()
	return testutil.Must(strategies{name, 20, same}.new(activelearn.Options{Seed: seed}))(t)
}

// askRival asks a strategy for the batch of a round, with `want` candidates.
func askRival(t *testing.T, s activelearn.Strategy, l *activelearn.Ledger, round, want int) []coll.Candidate {
	t.Helper()
	return testutil.Must(s.Ask(activelearn.State{Round: round, Want: want, Ledger: l}))(t)
}

// record adds a measurement of each candidate to a ledger. The function `seconds` gives the times.
func record(t *testing.T, l *activelearn.Ledger, seconds func(coll.Candidate) float64, candidates ...coll.Candidate) {
	t.Helper()
	var ms []coll.Measurement
	for _, c := range candidates {
		ms = append(ms, coll.Measurement{Candidate: c, Seconds: seconds(c), CostSeconds: 1e-3})
	}
	testutil.NoError(t, recordAll(l, ms))
}

func bySize(c coll.Candidate) float64 { return 1e-6 * (1 + float64(c.MsgBytes)/1000) }

func TestRivalsMeasureEachCandidateOnce(t *testing.T) {
	for _, name := range []string{"random", "trees", "weights"} {
		for seed := range uint64(2) {
			space := line(10, testutil.SyntheticAlgorithms())
			l, s := activelearn.NewLedger(space), makeRival(t, name, seed, false)
			for round := 1; l.FreeCount() > 0; round++ {
				left := l.FreeCount()
				batch := askRival(t, s, l, round, 7)
				if len(batch) < min(7, left) && name != "trees" {
					t.Fatalf("%s, round %d: %d candidates with %d left", name, round, len(batch), left)
				}
				record(t, l, bySize, batch...) // fails for a candidate that is not free
			}
		}
	}
}

// TestTreesMeasureWholePoints checks that the strategy "trees" begins at three evenly spaced points. In each
// further round it must measure all algorithms at one point. This point must lie where the ratio of their times
// changes.
func TestTreesMeasureWholePoints(t *testing.T) {
	first, jumpy := coll.Algorithm{Name: "a"}, coll.Algorithm{Name: "b"}
	space := line(19, []coll.Algorithm{first, jumpy})
	l, s := activelearn.NewLedger(space), makeRival(t, "trees", 1, false)
	seconds := func(c coll.Candidate) float64 {
		if c.Algorithm == jumpy && c.MsgBytes >= 1<<10 {
			return 4e-6
		}
		return 1e-6
	}
	batch := askRival(t, s, l, 1, 8)
	if want := slices.Concat(space.At(0), space.At(6), space.At(12)); !slices.Equal(batch, want) {
		t.Fatalf("the first batch is %v, want %v", batch, want)
	}
	for round := 2; round <= 4; round++ {
		record(t, l, seconds, batch...)
		batch = askRival(t, s, l, round, 8)
		if at, _ := space.Index(batch[0].Point); at <= 6 || at >= 12 || !slices.Equal(batch, space.At(at)) {
			t.Errorf("round %d: %v, want both algorithms at a point between the 6th and the 12th", round, batch)
		}
	}
	choose := testutil.Must(s.(*treeVariance).choose())(t)
	for i, p := range space.Points() {
		if got := choose(p); i > 12 && got != first {
			t.Errorf("at %v the choice is %v", p, got)
		}
	}
}

// TestWeightsDrawFastAlgorithms checks that the strategy "weights" draws all algorithms with equal probability
// at first. As soon as all have enough measurements, it draws and selects the algorithm that is eight times as
// fast.
func TestWeightsDrawFastAlgorithms(t *testing.T) {
	fast := coll.Algorithm{Name: "a"}
	space := line(60, []coll.Algorithm{fast, {Name: "b"}, {Name: "c"}})
	l, s := activelearn.NewLedger(space), makeRival(t, "weights", 1, false)
	seconds := func(c coll.Candidate) float64 {
		if c.Algorithm == fast {
			return 1e-5
		}
		return 8e-5
	}
	count := func(batch []coll.Candidate) (n int) {
		for _, c := range batch {
			if c.Algorithm == fast {
				n++
			}
		}
		return n
	}
	first := askRival(t, s, l, 1, 48)
	record(t, l, seconds, first...)
	second := askRival(t, s, l, 2, 48)
	if a, b := count(first), count(second); a > 22 || b < 28 {
		t.Errorf("%d, then %d of 48 draws of the fast algorithm", a, b)
	}
	choose := testutil.Must(s.(chooser).choose())(t)
	for _, p := range space.Points() {
		if choose(p) != fast {
			t.Errorf("at %v the choice is %v", p, choose(p))
		}
	}
}

func TestSameInitialDesign(t *testing.T) {
	var first, second [][]coll.Candidate
	for _, name := range Strategies() {
		l, s := activelearn.NewLedger(line(12, testutil.SyntheticAlgorithms())), makeRival(t, name, 1, true)
		first = append(first, askRival(t, s, l, 1, 4))
		record(t, l, bySize, first[len(first)-1]...)
		second = append(second, askRival(t, s, l, 2, 4))
	}
	for i, name := range Strategies() {
		if !slices.Equal(first[i], first[0]) {
			t.Errorf("%s begins with %v, %s with %v", name, first[i], Strategies()[0], first[0])
		}
	}
	if slices.Equal(second[0], second[len(second)-1]) {
		t.Errorf("random and regret both continue with %v", second[0])
	}
}
