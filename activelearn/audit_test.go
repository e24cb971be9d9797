package activelearn

import (
	"math"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// auditing returns a stopping rule that has planned one audit at each of three message sizes. The chosen
// algorithm takes one second when it is measured.
func auditing(t *testing.T) *StopRule {
	t.Helper()
	var points []coll.Point
	for _, bytes := range []int64{8, 64, 512} {
		points = append(points, coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: bytes}, coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 1, MsgBytes: bytes})
	}
	algorithms := []coll.Algorithm{{Name: "ring"}, {Name: "tree"}, {Name: "wide"}}
	space := coll.NewSpace(points, algorithms, func(coll.Candidate) error { return nil })
	r := NewStopRule(RuleOptions{Source: Predicted, Criteria: Criteria{Slowdown: 1.03, Mistakes: 0.05}}, NewLedger(space), nil)
	f := &forecast{draws: 1, largestMeasured: 512}
	for _, p := range space.Points() {
		f.points, f.open, f.own = append(f.points, p), append(f.open, space.Algorithms()), append(f.own, 0)
		f.logs, f.rivals = append(f.logs, []float64{-3, -3, -1}), append(f.rivals, []bool{false, true, false})
	}
	r.audited = []int64{512}
	r.audits = planAudits(r.ledger, 0, 1, f, r.audited)
	return r
}

// TestAudits checks that each message size is audited at one point until an audit of it finds no mistake. An
// audit contains the chosen algorithm and its credible rivals. The size is audited again after a mistake, or
// if the chosen algorithm could not be measured.
func TestAudits(t *testing.T) {
	for _, tc := range []struct {
		name     string
		seconds  map[string]float64 // by algorithm; without a time it is not measured
		passed   bool
		mistakes int
	}{
		{"the choice is the fastest", map[string]float64{"ring": 1, "tree": 1.2}, true, 0},
		{"a rival is a little faster", map[string]float64{"ring": 1, "tree": 0.95}, true, 0},
		{"a rival is significantly faster", map[string]float64{"ring": 1, "tree": 0.8}, false, 1},
		{"the choice failed", map[string]float64{"tree": 1}, false, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := auditing(t)
			batch := r.Audit()
			if len(batch) != 4 || batch[0].MsgBytes != 8 || batch[3].MsgBytes != 64 {
				t.Fatalf("audit of %v, want two candidates of 8 and of 64 bytes", batch)
			}
			for _, c := range batch {
				if seconds := tc.seconds[c.Algorithm.Name]; seconds > 0 {
					testutil.NoError(t, r.ledger.Pend(c))
					testutil.NoError(t, r.ledger.Record(coll.Trial{Measurement: coll.Measurement{Candidate: c, Seconds: seconds}, State: coll.TrialDone}))
				}
			}
			passed, mistakes := resultsOf(r.audits, r.ledger, 0.1)
			var want []int64
			if tc.passed {
				want = []int64{8, 64}
			}
			if !slices.Equal(passed, want) || mistakes != 2*tc.mistakes {
				t.Errorf("%d mistakes, passed %v: want %d and %v", mistakes, passed, 2*tc.mistakes, want)
			}
		})
	}
}

// TestAuditBeyondMeasuredSizes checks that the largest message size has an audit until something of this size is measured,
// even if it has no credible rival and costs more than audits may. The rival is then the second fastest algorithm.
func TestAuditBeyondMeasuredSizes(t *testing.T) {
	var points []coll.Point
	for _, bytes := range []int64{8, 64, 512} {
		points = append(points, coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: bytes})
	}
	algorithms := []coll.Algorithm{{Name: "ring"}, {Name: "tree"}, {Name: "wide"}}
	space := coll.NewSpace(points, algorithms, func(coll.Candidate) error { return nil })
	l := NewLedger(space)
	r := NewStopRule(RuleOptions{Source: Predicted, Criteria: Criteria{Slowdown: 1.03, Mistakes: 0.05}}, l, NewModels(l, nil, learner.Options{}))
	f := &forecast{draws: 1, largestMeasured: 64}
	for _, p := range space.Points() {
		f.points, f.open, f.own = append(f.points, p), append(f.open, space.Algorithms()), append(f.own, 0)
		f.logs, f.rivals = append(f.logs, []float64{-3, -1, -2}), append(f.rivals, make([]bool, 3))
	}
	got := r.affordable(planAudits(r.ledger, 0, 1, f, nil), f)
	if len(got) != 1 || got[0].point != points[2] || !slices.Equal(got[0].rivals, algorithms[2:]) {
		t.Fatalf("audits %v, want one of 512 bytes with the rival wide", got)
	}
	f.largestMeasured = 512
	if got := planAudits(r.ledger, 0, 1, f, nil); len(got) != 0 {
		t.Errorf("audits %v after a measurement of the largest size", got)
	}
}

// TestForecast checks that a forecast computes the right statistics from two given draws at two points.
func TestForecast(t *testing.T) {
	algorithms := []coll.Algorithm{{Name: "ring"}, {Name: "tree"}}
	f := &forecast{
		choices: choices{points: make([]coll.Point, 2), open: [][]coll.Algorithm{algorithms, algorithms}, own: []int{0, 1}},
		meets:   func(s metrics.Summary) bool { return s.Mistakes < 0.5 }, required: 0.95, rng: Options{}.rng(1), noise: make([]float64, 2),
		expected: make([]float64, 2), mistakes: make([]float64, 2), logs: [][]float64{{0, 0}, {0, 0}}, rivals: [][]bool{{false, false}, {false, false}},
	}
	testutil.NoError(t, f.add([][]float64{{-3, -3}, {-3, -4}}))   // no mistake
	testutil.NoError(t, f.add([][]float64{{-3, -3.5}, {-3, -6}})) // a mistake at the first point
	mean := testutil.Must(f.mean())(t)
	if f.criteriaMet != 1 || f.attainableMet != 2 || mean.Mistakes != 0.25 || f.upper(mistakes) != 0.5 {
		t.Errorf("%d of 2 draws meet the criteria, %d can, mistakes %g and at most %g", f.criteriaMet, f.attainableMet, mean.Mistakes, f.upper(mistakes))
	}
	if want := [][]bool{{false, true}, {false, false}}; !slices.EqualFunc(f.rivals, want, slices.Equal) {
		t.Errorf("credible rivals %v, want %v", f.rivals, want)
	}
}

// TestAuditsAreDrawn checks how the point to audit is drawn among the points of a message size. The probability
// must be inversely proportional to the square root of the point's time. The first point takes a quarter of the
// second point's time. It must therefore be drawn in two of three rounds.
func TestAuditsAreDrawn(t *testing.T) {
	points := []coll.Point{{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 8}, {Collective: coll.Bcast, Nodes: 4, PPN: 1, MsgBytes: 8}}
	algorithms := []coll.Algorithm{{Name: "ring"}, {Name: "tree"}}
	l := NewLedger(coll.NewSpace(points, algorithms, func(coll.Candidate) error { return nil }))
	slower := -3 + math.Log10(4)
	f := &forecast{draws: 1, choices: choices{points: points, open: [][]coll.Algorithm{algorithms, algorithms}, own: []int{0, 0}},
		logs: [][]float64{{-3, -3}, {slower, slower}}, rivals: [][]bool{{false, true}, {false, true}}}
	first, rounds := 0, 3000
	for round := range rounds {
		if planAudits(l, 0, round, f, nil)[0].point == points[0] {
			first++
		}
	}
	if share := float64(first) / float64(rounds); math.Abs(share-2.0/3) > 0.03 { // the standard error is 0.009
		t.Errorf("the first point is drawn in %g of the rounds, want 2/3", share)
	}
}
