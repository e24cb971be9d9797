package activelearn

import (
	"math"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/preprocess"
	"tutti/selection"
	"tutti/surrogate/learner"
)

// guarding returns the alternatives at one point with the algorithms ring and tree, and the default unless `without` is
// set. The given times are measured; another point has measurements of all of them.
func guarding(t *testing.T, without bool, measured map[string]float64) Alternatives {
	t.Helper()
	points := []coll.Point{{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 8}, {Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 64}}
	algorithms := []coll.Algorithm{{Name: "ring"}, {Name: "tree"}}
	if !without {
		algorithms = append(algorithms, coll.Default)
	}
	l := NewLedger(coll.NewSpace(points, algorithms, func(c coll.Candidate) error { return nil }))
	record := func(c coll.Candidate, seconds float64) {
		testutil.NoError(t, l.Pend(c))
		testutil.NoError(t, l.Record(coll.Trial{Measurement: coll.Measurement{Candidate: c, Seconds: seconds, CostSeconds: 1}, State: coll.TrialDone}))
	}
	for _, alg := range l.Space().Algorithms() {
		record(coll.Candidate{Point: points[1], Algorithm: alg}, 1)
		if seconds := measured[alg.Name]; seconds > 0 {
			record(coll.Candidate{Point: points[0], Algorithm: alg}, seconds)
		}
	}
	models := testutil.Must(learner.Fit(DataOf(l, nil), learner.Options{Model: learner.GaussianProcess, Scaling: preprocess.AlgorithmLog10}))(t)
	return NewAlternatives(models, l)
}

// TestGuard checks which algorithms may replace the default at a point, and the stated reason.
func TestGuard(t *testing.T) {
	for _, tc := range []struct {
		name      string
		without   bool
		measured  map[string]float64
		predicted string // algorithm that is predicted to be fastest
		want      string // algorithms that pass
		result    GuardResult
	}{
		{"both measured, faster", false, map[string]float64{"ring": 0.9, "library_default": 1}, "ring", "ring", Confirmed},
		{"faster within the noise", false, map[string]float64{"ring": 0.98, "library_default": 1}, "ring", "", Tie},
		{"slower", false, map[string]float64{"ring": 1.1, "library_default": 1}, "library_default", "", BestDefault},
		{"the choice is only predicted", false, map[string]float64{"library_default": 1}, "ring", "", NotConfirmed},
		{"the default is only predicted", false, map[string]float64{"ring": 0.5}, "ring", "", NotConfirmed},
		{"another one passes", false, map[string]float64{"tree": 0.9, "library_default": 1}, "ring", "tree", Confirmed},
		{"no default at all", true, nil, "ring", "ring tree", NotGuarded},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := guarding(t, tc.without, tc.measured)
			row := selection.Row{Point: a.space.Points()[0]}
			for _, alg := range a.space.Algorithms() {
				seconds := 1.0
				if alg.Name == tc.predicted {
					seconds = 0.1
				}
				row.Options = append(row.Options, selection.Option{Algorithm: alg, Seconds: seconds})
			}
			got := a.Guard([]selection.Row{row})
			names := ""
			for _, o := range got.Rows[0].Options {
				if !o.Algorithm.IsDefault() {
					names += " " + o.Algorithm.Name
				}
			}
			if names != map[bool]string{true: " " + tc.want}[tc.want != ""] || got.Results[0] != tc.result {
				t.Errorf("passes:%s, %s; want %q, %s", names, got.Results[0], tc.want, tc.result)
			}
		})
	}
}

// TestMarket checks what a pair measures, and that it is worth at least what is predicted. A speed-up within the noise is
// worth less than itself, and counts as not predicted to be faster.
func TestMarket(t *testing.T) {
	for _, tc := range []struct {
		name     string
		measured map[string]float64
		ring     float64 // predicted; the default takes 1
		want     []string
		faster   bool
	}{
		{"neither is measured", nil, 0.5, []string{"ring", "library_default"}, true},
		{"the default is measured", map[string]float64{"library_default": 1}, 0.5, []string{"ring"}, true},
		{"both are measured", map[string]float64{"library_default": 1, "ring": 0.5}, 0.5, nil, false},
		{"within the noise", nil, 0.99, []string{"ring", "library_default"}, false},
		{"predicted to be slower", nil, 1.01, []string{"ring", "library_default"}, false},
	} {
		a := guarding(t, false, tc.measured)
		p := a.space.Points()[0]
		rows := []selection.Row{{Point: p, Options: []selection.Option{{Algorithm: coll.Algorithm{Name: "ring"}, Seconds: tc.ring}, {Algorithm: coll.Default, Seconds: 1}}}}
		m := testutil.Must(a.Market(rows, PairOptions{}))(t)
		var names []string
		for _, pair := range m.Pairs {
			if predicted := -math.Log(tc.ring); tc.faster && math.Abs(pair.Gain-predicted) > 0.01 || pair.Gain < 0.99*predicted {
				t.Errorf("%s: expects a gain of %g, predicted %g", tc.name, pair.Gain, predicted)
			}
			if want := math.Expm1(pair.Gain); math.Abs(pair.Loss-want) > 1e-12 || m.Rest < pair.Seconds {
				t.Errorf("%s: a loss of %g, want %g; the pair takes %g s, everything %g s", tc.name, pair.Loss, want, pair.Seconds, m.Rest)
			}
			for _, c := range pair.Candidates {
				names = append(names, c.Algorithm.Name)
			}
		}
		if left := m.Unconfirmed(1); !slices.Equal(names, tc.want) || left.Points > 0 != tc.faster {
			t.Errorf("%s: measures %v, %d points unconfirmed; want %v, %t", tc.name, names, left.Points, tc.want, tc.faster)
		}
	}
}

// TestRest checks the price of everything that is not measured, also of an algorithm without any measurement.
func TestRest(t *testing.T) {
	points := []coll.Point{{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 8}, {Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 64}}
	l := NewLedger(coll.NewSpace(points, []coll.Algorithm{{Name: "chain"}, {Name: "ring"}, coll.Default}, func(coll.Candidate) error { return nil }))
	for _, alg := range []coll.Algorithm{{Name: "ring"}, coll.Default} {
		c := coll.Candidate{Point: points[1], Algorithm: alg}
		testutil.NoError(t, l.Pend(c))
		testutil.NoError(t, l.Record(coll.Trial{Measurement: coll.Measurement{Candidate: c, Seconds: 1, CostSeconds: 3}, State: coll.TrialDone}))
	}
	a := NewAlternatives(testutil.Must(learner.Fit(DataOf(l, nil), learner.Options{Model: learner.GaussianProcess, Scaling: preprocess.AlgorithmLog10}))(t), l)
	m := testutil.Must(a.Market(testutil.Must(a.Rows(points))(t), PairOptions{}))(t)
	if want := 12.0; math.Abs(m.Rest-want) > 1e-3 { // four candidates like those that were measured
		t.Errorf("everything else takes %g s, want %g", m.Rest, want)
	}
}

// TestExpectedGain checks the gain that the guard is expected to let pass, in decades: against sums over the normal
// density, and that uncertainty makes a pair worth something whose algorithm is predicted to be slower.
func TestExpectedGain(t *testing.T) {
	for _, tc := range []struct{ mean, sd, least float64 }{
		{0.3, 0, 0.02}, {0.01, 0, 0.02}, {0.3, 0.01, 0.02}, {0.01, 0.05, 0.02}, {-0.1, 0.1, 0.02}, {-0.4, 0.02, 0.02}, {0, 0.1, 0},
	} {
		want := 0.0
		for z := -8.0; z < 8; z += 1e-4 {
			if x := tc.mean + z*tc.sd; x > tc.least {
				want += math.Ln10 * x * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * 1e-4
			}
		}
		if got := expectedGain(tc.mean, tc.sd*tc.sd, tc.least); math.Abs(got-want) > 1e-4 {
			t.Errorf("gap %g ± %g, margin %g: %g, want %g", tc.mean, tc.sd, tc.least, got, want)
		}
	}
	if expectedGain(-0.1, 0.01, 0.02) <= 0 || expectedGain(-0.1, 0, 0.02) != 0 {
		t.Error("an algorithm predicted to be slower has a gain only if the prediction is uncertain")
	}
}

// TestBuy checks that pairs are bought by gain per second over all markets, with their launches, within a budget.
func TestBuy(t *testing.T) {
	pair := func(gain, seconds float64, launch string) Pair {
		return Pair{Gain: gain, Seconds: seconds, launches: []any{launch}}
	}
	for _, tc := range []struct {
		name                string
		markets             []Market
		rate, budget, limit float64
		want                []int // pairs bought in each market
	}{
		{"only those that are worth it", []Market{{Pairs: []Pair{pair(1, 1, "a"), pair(1, 3, "b")}}}, 0.5, 10, 10, []int{1}},
		{"the best of all markets", []Market{{Pairs: []Pair{pair(1, 2, "a")}}, {Pairs: []Pair{pair(3, 2, "a")}}}, 0.1, 2, 2, []int{0, 1}},
		{"a launch too expensive for one", []Market{{Pairs: []Pair{pair(1, 1, "a")}, Launch: 2}}, 0.5, 10, 10, []int{0}},
		{"is shared by two", []Market{{Pairs: []Pair{pair(1, 1, "a"), pair(1, 1, "a")}, Launch: 2}}, 0.5, 10, 10, []int{2}},
		{"no budget", []Market{{Pairs: []Pair{pair(1, 1, "a")}}}, 0.1, 0.5, 0.5, []int{0}},
		{"the best one alone above the budget", []Market{{Pairs: []Pair{pair(1, 2, "a"), pair(3, 3, "b"), pair(9, 9, "c")}}}, 0.1, 1, 4, []int{1}},
	} {
		for i := range tc.markets {
			tc.markets[i].Rate = tc.rate
		}
		var got []int
		for _, pairs := range Buy(tc.markets, tc.budget, tc.limit) {
			got = append(got, len(pairs))
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: bought %v, want %v", tc.name, got, tc.want)
		}
	}
}
