package activelearn

import (
	"slices"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/preprocess"
)

// crossingMeasurements returns measurements of all candidates of the synthetic machine "crossing". The times
// of the algorithm `alg` are multiplied by `times`.
func crossingMeasurements(t *testing.T, alg string, times float64) []coll.Measurement {
	t.Helper()
	l := NewLedger(crossing())
	for _, c := range l.Space().Candidates() {
		machine(t, l, c, 0)
	}
	out := slices.Clone(l.Measurements())
	for i := range out {
		if out[i].Algorithm.Name == alg {
			out[i].Seconds *= times
			out[i].CostSeconds *= times
		}
	}
	return out
}

// mistakeShare returns the fraction of points at which the strategy's Gaussian process makes a mistake. A
// mistake is the choice of an algorithm that is more than 10 % slower than the fastest.
func mistakeShare(t *testing.T, r *regret, l *Ledger, truth []coll.Measurement) float64 {
	t.Helper()
	means := testutil.Must(State{Ledger: l}.posterior(r.opt.Earlier))(t).GP().Means(preprocess.SurrogateRows(r.points), len(r.index))
	mistakes := 0
	for i := range r.points {
		best, chosen := truth[3*i], 0
		for a := range 3 {
			if m := truth[3*i+a]; m.Seconds < best.Seconds {
				best = m
			}
			if means[a][i] < means[chosen][i] {
				chosen = a
			}
		}
		if truth[3*i+chosen].Seconds > 1.1*best.Seconds {
			mistakes++
		}
	}
	return float64(mistakes) / float64(len(r.points))
}

// TestRegretOfEarlierCampaign checks that a campaign with the measurements of an earlier campaign begins with a
// few cheap measurements of every algorithm. If nothing changed, its choices must be right at once. If one
// algorithm became slower, a few rounds must correct the choices.
func TestRegretOfEarlierCampaign(t *testing.T) {
	truth := crossingMeasurements(t, "", 1)
	total := 0.0
	for _, m := range truth {
		total += m.CostSeconds
	}
	for _, tc := range []struct {
		name   string
		alg    string
		times  float64
		rounds int
		cost   float64 // as a fraction of the cost of measuring everything
	}{
		{"nothing changed", "", 1, 1, 0.02},
		{"an algorithm was twice as fast", "late", 0.5, 3, 0.1},
		{"an algorithm was four times as slow", "early", 4, 3, 0.1},
	} {
		l := NewLedger(crossing())
		s := testutil.Must(New("regret", Options{Seed: 1, Earlier: [][]coll.Measurement{crossingMeasurements(t, tc.alg, tc.times)}}))(t)
		for round := 1; round <= tc.rounds; round++ {
			batch := testutil.Must(s.Ask(State{Round: round, Want: 8, Ledger: l}))(t)
			if round == 1 {
				algorithms := map[coll.Algorithm]bool{}
				for _, c := range batch {
					algorithms[c.Algorithm] = true
				}
				if len(batch) != 8 || len(algorithms) != 3 {
					t.Errorf("%s: first batch %v, want 8 candidates of all 3 algorithms", tc.name, batch)
				}
			}
			for _, c := range batch {
				machine(t, l, c, 0)
			}
		}
		mistakes, cost := mistakeShare(t, s.(*regret), l, truth), l.CostSeconds()/total
		t.Logf("%s: mistakes at %.3f of the points after %d candidates, %.3f of the machine time", tc.name, mistakes, l.Trials(), cost)
		if mistakes > 0.05 || cost > tc.cost {
			t.Errorf("%s: mistakes at %.3f of the points for %.3f of the machine time, want 0.05 at most for %.2f", tc.name, mistakes, cost, tc.cost)
		}
	}
}

// TestRegretOfForeignCampaign checks that measurements of an earlier campaign are ignored if their point or
// algorithm is not in the space. If no usable measurement remains, the first batch is the same as without
// earlier campaigns.
func TestRegretOfForeignCampaign(t *testing.T) {
	foreign := []coll.Measurement{
		{Candidate: coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 3, PPN: 1, MsgBytes: 8}, Algorithm: coll.Algorithm{Name: "early"}}, Seconds: 1, CostSeconds: 1},
		{Candidate: coll.Candidate{Point: crossing().Points()[0], Algorithm: coll.Algorithm{Name: "gone"}}, Seconds: 1, CostSeconds: 1},
	}
	s := testutil.Must(New("regret", Options{Seed: 1, Earlier: [][]coll.Measurement{foreign}}))(t)
	l := NewLedger(crossing())
	for round, want := range []int{3 * initialPoints, 1} { // a second candidate in round 2 would exceed half of the machine time so far
		batch, err := s.Ask(State{Round: round + 1, Want: 2, Ledger: l})
		if err != nil || len(batch) != want {
			t.Fatalf("round %d: %v, %v, want %d candidates", round+1, batch, err, want)
		}
		for _, c := range batch {
			machine(t, l, c, 0)
		}
	}
}
