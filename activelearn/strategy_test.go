package activelearn_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/surrogate/forest"
)

func strategy(t *testing.T, name string, seed uint64) activelearn.Strategy {
	t.Helper()
	s, err := activelearn.New(name, activelearn.Options{Seed: seed, Initial: 3, Forest: forest.Options{Trees: 20}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ask(t *testing.T, s activelearn.Strategy, l *activelearn.Ledger, round, want int) []coll.Candidate {
	t.Helper()
	batch, err := s.Ask(activelearn.State{Round: round, Want: want, Ledger: l})
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

// A campaign on a machine where trials fail and some are still running when the
// next batch is asked for.
func TestStrategiesKeepTheirPromise(t *testing.T) {
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

// batches asks until nothing is left and returns what was asked for.
func batches(t *testing.T, name string, s activelearn.Strategy, l *activelearn.Ledger, want int) [][]coll.Candidate {
	t.Helper()
	var out [][]coll.Candidate
	var running []coll.Candidate
	for round := 1; l.Left() > 0; round++ {
		left := l.Left()
		batch := ask(t, s, l, round, want)
		least := min(want, left)
		if activelearn.Believes(name) {
			least = min(least, 1) // more may cost too much
		}
		if len(batch) < least {
			t.Fatalf("round %d: %d candidates, want at least %d with %d left", round, len(batch), least, left)
		}
		pend(t, l, batch...) // fails for what is not free or there twice
		for i, c := range slices.Concat(running, batch) {
			switch {
			case round == 1 || i%5 == 4: // nothing comes of the first batch
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

// Before there is a model, the first batch is whole points, as many as Initial.
func TestInitialBatch(t *testing.T) {
	for _, name := range []string{"uncertainty", "jackknife"} {
		l := activelearn.NewLedger(sweep(10))
		batch := ask(t, strategy(t, name, 1), l, 1, 1)
		points := map[coll.Point]int{}
		for _, c := range batch {
			points[c.Point]++
		}
		if len(points) != 3 || len(batch) != 12 {
			t.Errorf("%s: first batch has %d candidates at %d points, want 12 at 3", name, len(batch), len(points))
		}
	}
}

// Measured on the left of a line: the right end is the least certain, and a batch
// spreads over what is unknown.
func TestUncertaintyGoesFar(t *testing.T) {
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

// What is pending counts as known: with the first choice under way, a strategy
// goes on to what would have been its second.
func TestPendingChangesTheChoice(t *testing.T) {
	s := sweep(25)
	fresh := func() *activelearn.Ledger {
		l := activelearn.NewLedger(s)
		for i := range 6 {
			measure(t, l, s.At(3*i)...)
		}
		return l
	}
	t.Run("uncertainty", func(t *testing.T) {
		both := ask(t, strategy(t, "uncertainty", 1), fresh(), 2, 8)
		l := fresh()
		pend(t, l, both[0]) // its point has three more to ask for
		next := ask(t, strategy(t, "uncertainty", 1), l, 2, 1)
		if next[0].Point != both[4].Point {
			t.Errorf("next choice = %v, want %v", next[0].Point, both[4].Point)
		}
	})
	t.Run("jackknife", func(t *testing.T) {
		first := ask(t, strategy(t, "jackknife", 1), fresh(), 2, 1)
		l := fresh()
		pend(t, l, first[0])
		alone := ask(t, strategy(t, "jackknife", 1), l, 2, 1)
		if alone[0].Algorithm == first[0].Algorithm && near(alone[0].Point, first[0].Point) {
			t.Errorf("next to %v under way, the choice is %v", first[0], alone[0])
		}
	})
}

// near points differ by a doubling of the size.
func near(a, b coll.Point) bool {
	return math.Abs(math.Log2(float64(a.MsgBytes)/float64(b.MsgBytes))) < 1.5
}

// Of two algorithms one takes the same time everywhere, the other jumps: only the
// jumping one leaves doubt.
func TestJackknifePrefersTheNoisyForest(t *testing.T) {
	steady, jumpy := coll.Algorithm{Name: "steady"}, coll.Algorithm{Name: "jumpy"}
	var points []coll.Point
	for i := range 20 {
		points = append(points, coll.Point{Collective: coll.Bcast, Nodes: 8, PPN: 2, MsgBytes: 1 << i})
	}
	s := coll.NewSpace(points, []coll.Algorithm{steady, jumpy}, func(coll.Candidate) error { return nil })
	for seed := range uint64(5) {
		l := activelearn.NewLedger(s)
		for i := 0; i < 20; i += 2 {
			for _, c := range s.At(i) {
				seconds := 1e-6
				if c.Algorithm == jumpy && i%4 == 0 {
					seconds = 4e-6
				}
				pend(t, l, c)
				record(t, l, coll.Trial{Measurement: coll.Measurement{Candidate: c, Seconds: seconds}, State: coll.TrialDone})
			}
		}
		for _, c := range ask(t, strategy(t, "jackknife", seed), l, 2, 5) {
			if c.Algorithm != jumpy {
				t.Errorf("seed %d: asked for %v", seed, c)
			}
		}
	}
}

// An algorithm never measured is the least certain of all, everywhere alike: a
// batch spreads over its points.
func TestJackknifeBeginsWithTheUnknown(t *testing.T) {
	s := sweep(21)
	for seed := range uint64(5) {
		l := activelearn.NewLedger(s)
		for i := range s.Points() {
			for _, c := range s.At(i) {
				if c.Algorithm.Name != "ring" && i%2 == 0 {
					measure(t, l, c)
				}
			}
		}
		batch := ask(t, strategy(t, "jackknife", seed), l, 2, 5)
		for i, c := range batch {
			if c.Algorithm.Name != "ring" {
				t.Errorf("seed %d: asked for %v, want ring, of which nothing is known", seed, c)
			}
			for _, other := range batch[:i] {
				if near(c.Point, other.Point) {
					t.Errorf("seed %d: asked for both %v and %v", seed, other, c)
				}
			}
		}
	}
}

// Whatever lowers the forests' splits: times in log10 are negative, which some
// criteria cannot learn from.
func TestJackknifeTakesEveryCriterion(t *testing.T) {
	for _, name := range []string{"squared_error", "absolute_error", "friedman_mse", "poisson"} {
		criterion, err := forest.ParseCriterion(name)
		if err != nil {
			t.Fatal(err)
		}
		strategy, err := activelearn.New("jackknife", activelearn.Options{Seed: 1, Forest: forest.Options{Trees: 20, Criterion: criterion}})
		if err != nil {
			t.Fatal(err)
		}
		s := sweep(8)
		l := activelearn.NewLedger(s)
		measure(t, l, slices.Concat(s.At(0), s.At(4), s.At(7))...)
		batch, err := strategy.Ask(activelearn.State{Round: 2, Want: 3, Ledger: l})
		if err != nil || len(batch) != 3 {
			t.Errorf("%s: asked for %v, %v, want three candidates", name, batch, err)
		}
	}
}

func TestNewNamesWhatIsAllowed(t *testing.T) {
	_, err := activelearn.New("greedy", activelearn.Options{})
	if err == nil {
		t.Fatal("New(greedy): want an error")
	}
	for _, want := range append(activelearn.Names(), `"greedy"`) {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("New(greedy) error = %q, want it to name %s", err, want)
		}
	}
}

// Strategies that are compared alone begin with the same batch, and go on by themselves.
func TestStrategiesBeginAlike(t *testing.T) {
	var first, second [][]coll.Candidate
	for _, name := range activelearn.Names() {
		s, err := activelearn.New(name, activelearn.Options{Seed: 1, Alike: true, Forest: forest.Options{Trees: 20}})
		if err != nil {
			t.Fatal(err)
		}
		l := activelearn.NewLedger(cube(t))
		first = append(first, ask(t, s, l, 1, 4))
		for _, c := range first[len(first)-1] {
			if err := l.Pend(c); err != nil {
				t.Fatal(err)
			}
			m := coll.Measurement{Candidate: c, Seconds: 1e-6 * float64(1+c.Nodes), CostSeconds: 1e-3}
			if err := l.Record(coll.Trial{Measurement: m, State: coll.TrialDone}); err != nil {
				t.Fatal(err)
			}
		}
		second = append(second, ask(t, s, l, 2, 4))
	}
	for i, name := range activelearn.Names()[1:] {
		if !slices.Equal(first[i+1], first[0]) {
			t.Errorf("%s begins with %v, %s with %v", name, first[i+1], activelearn.Names()[0], first[0])
		}
	}
	if slices.Equal(second[0], second[3]) {
		t.Errorf("random and regret both go on with %v", second[0])
	}
}
