package activelearn

import (
	"math"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
)

// validationSamples runs six rounds. It then asks for the validation samples of many further rounds, but
// records no measurements of these.
func validationSamples(t *testing.T, opt Options, want int) (*Ledger, [][]coll.Candidate) {
	t.Helper()
	l := NewLedger(crossing())
	s := testutil.Must(New("regret", opt))(t)
	var out [][]coll.Candidate
	for round := range 200 {
		state := State{Round: round + 1, Want: want, Ledger: l, Confirm: round >= 6}
		batch := testutil.Must(s.Ask(state))(t)
		if state.Confirm {
			checks := slices.DeleteFunc(slices.Clone(batch), func(c coll.Candidate) bool {
				why, _ := s.(Explainer).Reason(c)
				return !why.Validation
			})
			if others := len(batch) - len(checks); others < 1 || others > want+1 {
				t.Errorf("%d candidates and %d of them checks, want 1 to %d others", len(batch), len(checks), want+1)
			}
			out = append(out, checks)
			continue
		}
		for _, c := range batch {
			machine(t, l, c, 0)
		}
	}
	return l, out
}

// TestValidationSample checks that validation samples are drawn evenly over the points whose choice is
// open, regardless of cost. At each point they have the choice and a rival. They must cost little compared
// with the campaign so far.
func TestValidationSample(t *testing.T) {
	l, batches := validationSamples(t, Options{Seed: 1}, 8)
	least := math.Inf(1)
	open := 0 // points that a batch can easily afford
	for i := range l.Space().Points() {
		cost := NewLedger(l.Space())
		for _, c := range l.Free(i) {
			if c.Algorithm.Name != "slow" {
				machine(t, cost, c, 0)
			}
		}
		if now := cost.CostSeconds(); now > 0 && now < l.CostSeconds()/8 {
			open++
		}
	}
	drawn, slow, all := map[coll.Point]bool{}, 0, 0
	for _, batch := range batches {
		at := map[coll.Point]int{}
		seen := asSet(batch)
		for _, c := range batch {
			at[c.Point]++
			drawn[c.Point] = true
			all++
			if c.Algorithm.Name == "slow" {
				slow++
			}
			if !l.IsFree(c) || at[c.Point] > 2 {
				t.Fatalf("%v of %v: want two free candidates a point at most", c, batch)
			}
		}
		if len(batch) == 0 || len(batch) > 9 || len(seen) != len(batch) {
			t.Fatalf("%d candidates, %d of them once: %v", len(batch), len(seen), batch)
		}
		copied := NewLedger(l.Space())
		for _, c := range batch {
			machine(t, copied, c, 0)
		}
		least = min(least, l.CostSeconds()/copied.CostSeconds())
	}
	if 2*len(drawn) < open { // points with clearly different times are skipped
		t.Errorf("%d points were drawn in %d rounds, want %d at least", len(drawn), len(batches), open/2)
	}
	if 5*slow > all {
		t.Errorf("%d of %d candidates are of an algorithm ten times slower", slow, all)
	}
	if least < 2 {
		t.Errorf("a batch took 1/%.2g of what was spent before, want half at most", least)
	}
}

// TestValidationSampleUsesWeights checks that no validation sample contains a point of weight 0.
func TestValidationSampleUsesWeights(t *testing.T) {
	weight := func(p coll.Point) float64 { return map[bool]float64{true: 1}[p.Nodes == 4] }
	_, batches := validationSamples(t, Options{Seed: 2, Weight: weight}, 4)
	for _, c := range slices.Concat(batches...) {
		if c.Nodes != 4 {
			t.Fatalf("%v is checked and has no weight", c)
		}
	}
}
