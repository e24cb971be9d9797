package lab

import (
	"math"
	"slices"
	"testing"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/surrogate/forest"
)

// line returns a space of broadcasts whose message sizes are powers of two.
func line(sizes int, algorithms []coll.Algorithm) *coll.Space {
	var points []coll.Point
	for i := range sizes {
		points = append(points, coll.Point{Collective: coll.Bcast, Nodes: 8, PPN: 2, MsgBytes: 1 << i})
	}
	return coll.NewSpace(points, algorithms, func(coll.Candidate) error { return nil })
}

// makeRival returns a strategy with small forests.
func makeRival(t *testing.T, name string, seed uint64, same bool) activelearn.Strategy {
	t.Helper()
	return testutil.Must(strategies{name, forest.Options{Trees: 20}, same}.new(activelearn.Options{Seed: seed}))(t)
}

// askRival returns the batch that a strategy selects in a round.
func askRival(t *testing.T, s activelearn.Strategy, l *activelearn.Ledger, round, want int) []coll.Candidate {
	t.Helper()
	return testutil.Must(s.Ask(activelearn.State{Round: round, Want: want, Ledger: l}))(t)
}

// record records the times of candidates in a ledger.
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
	for _, name := range []string{"random", "jackknife"} {
		for seed := range uint64(2) {
			space := line(10, testutil.SyntheticAlgorithms())
			l, s := activelearn.NewLedger(space), makeRival(t, name, seed, false)
			for round := 1; l.Left() > 0; round++ {
				left := l.Left()
				batch := askRival(t, s, l, round, 7)
				if len(batch) < min(7, left) {
					t.Fatalf("%s, round %d: %d candidates with %d left", name, round, len(batch), left)
				}
				record(t, l, bySize, batch...) // fails for a candidate that is not free
			}
		}
	}
}

// TestJackknifePrefersTheNoisyForest checks two algorithms: the times of one vary from point to point, the
// other has the same time at every point. The strategy jackknife must select only the first one.
func TestJackknifePrefersTheNoisyForest(t *testing.T) {
	steady, jumpy := coll.Algorithm{Name: "steady"}, coll.Algorithm{Name: "jumpy"}
	space := line(20, []coll.Algorithm{steady, jumpy})
	for seed := range uint64(5) {
		l := activelearn.NewLedger(space)
		for i := 0; i < 20; i += 2 {
			record(t, l, func(c coll.Candidate) float64 {
				if c.Algorithm == jumpy && i%4 == 0 {
					return 4e-6
				}
				return 1e-6
			}, space.At(i)...)
		}
		for _, c := range askRival(t, makeRival(t, "jackknife", seed, false), l, 2, 5) {
			if c.Algorithm != jumpy {
				t.Errorf("seed %d: asked for %v", seed, c)
			}
		}
	}
}

// neighbours reports whether the message sizes of two points differ at most by a factor of two.
func neighbours(a, b coll.Point) bool {
	return math.Abs(math.Log2(float64(a.MsgBytes)/float64(b.MsgBytes))) < 1.5
}

// TestJackknifePrefersUnmeasuredAlgorithms checks that all candidates of a batch have the algorithm without
// measurements, at points that are not neighbours.
func TestJackknifePrefersUnmeasuredAlgorithms(t *testing.T) {
	space := line(21, testutil.SyntheticAlgorithms())
	for seed := range uint64(5) {
		l := activelearn.NewLedger(space)
		for i := 0; i < 21; i += 2 {
			record(t, l, bySize, slices.DeleteFunc(space.At(i), func(c coll.Candidate) bool { return c.Algorithm.Name == "ring" })...)
		}
		batch := askRival(t, makeRival(t, "jackknife", seed, false), l, 2, 5)
		for i, c := range batch {
			if c.Algorithm.Name != "ring" {
				t.Errorf("seed %d: asked for %v, want ring, which has no measurements", seed, c)
			}
			if slices.ContainsFunc(batch[:i], func(o coll.Candidate) bool { return neighbours(c.Point, o.Point) }) {
				t.Errorf("seed %d: %v has a neighbour in %v", seed, c, batch)
			}
		}
	}
}

// TestJackknifeAvoidsPendingNeighbours checks that no neighbour of a pending candidate is chosen.
func TestJackknifeAvoidsPendingNeighbours(t *testing.T) {
	space := line(25, testutil.SyntheticAlgorithms())
	l := activelearn.NewLedger(space)
	for i := range 6 {
		record(t, l, bySize, space.At(3*i)...)
	}
	first := askRival(t, makeRival(t, "jackknife", 1, false), l, 2, 1)[0]
	testutil.NoError(t, l.Pend(first))
	if next := askRival(t, makeRival(t, "jackknife", 1, false), l, 2, 1)[0]; next.Algorithm == first.Algorithm && neighbours(next.Point, first.Point) {
		t.Errorf("next to %v the choice is %v", first, next)
	}
}

// TestJackknifeTakesEveryCriterion checks forests with each split criterion. The criterion poisson does not
// allow negative values, such as logarithms of times.
func TestJackknifeTakesEveryCriterion(t *testing.T) {
	for _, name := range []string{"squared_error", "absolute_error", "friedman_mse", "poisson"} {
		criterion := testutil.Must(forest.ParseCriterion(name))(t)
		s := testutil.Must(strategies{name: "jackknife", forest: forest.Options{Trees: 20, Criterion: criterion}}.new(activelearn.Options{Seed: 1}))(t)
		space := line(8, testutil.SyntheticAlgorithms())
		l := activelearn.NewLedger(space)
		record(t, l, bySize, slices.Concat(space.At(0), space.At(4), space.At(7))...)
		if batch := askRival(t, s, l, 2, 3); len(batch) != 3 {
			t.Errorf("%s: asked for %v, want three candidates", name, batch)
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
	if slices.Equal(second[0], second[3]) {
		t.Errorf("random and regret both continue with %v", second[0])
	}
}
