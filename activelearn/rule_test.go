package activelearn

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// TestUnknownRound checks that the criteria do not count as met when the latest round has no evaluation, even
// if an earlier round met them.
func TestUnknownRound(t *testing.T) {
	space := coll.NewSpace([]coll.Point{{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 8}}, []coll.Algorithm{{Name: "ring"}}, func(coll.Candidate) error { return nil })
	l := NewLedger(space)
	r := NewStopRule(RuleOptions{Criteria: Criteria{Slowdown: 1.03, Mistakes: 0.05, Patience: 1}, Source: CrossValidated}, l, NewModels(l, nil, learner.Options{}))
	_, _, err := r.Round(1, 1, Logged{Evaluation: &Evaluation{Slowdown: 1.01}, Later: true})
	testutil.NoError(t, err)
	before := r.MeetsCriteria()
	_, ok, err := r.Round(2, 1, Logged{})
	if ok || err != nil || !before || r.MeetsCriteria() {
		t.Errorf("criteria %t in round 1, %t after round 2, evaluated: %t (%v)", before, r.MeetsCriteria(), ok, err)
	}
}

// TestSamplePointsIsIndependent checks that the points of an evaluation do not depend on the points that a
// strategy draws with the same seed and round.
func TestSamplePointsIsIndependent(t *testing.T) {
	var points []coll.Point
	for i := range 2 * predictedPoints {
		points = append(points, coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: int64(i)})
	}
	space := coll.NewSpace(points, []coll.Algorithm{{Name: "ring"}}, func(coll.Candidate) error { return nil })
	r := &Evaluator{opt: RuleOptions{Seed: 7}, ledger: NewLedger(space)}
	drawn := r.SamplePoints(3)
	if again := r.SamplePoints(3); len(drawn) != predictedPoints || !slices.Equal(drawn, again) {
		t.Fatalf("%d points in one draw, %d in the same again", len(drawn), len(again))
	}
	others := rand.New(rand.NewPCG(7, 3)).Perm(len(points))[:predictedPoints]
	both := 0
	for _, i := range others {
		if slices.Contains(drawn, points[i]) {
			both++
		}
	}
	if both > predictedPoints*3/5 { // half are expected
		t.Errorf("%d of %d points are those that the strategy's stream gives", both, predictedPoints)
	}
}

// TestUncertaintyObservesEachPointOnce checks that a point counts as one observation even if its algorithms
// are measured in different rounds. The observed time must be the fastest time in the first of these rounds.
func TestUncertaintyObservesEachPointOnce(t *testing.T) {
	var points []coll.Point
	for i := range 6 {
		points = append(points, coll.Point{Collective: coll.Bcast, Nodes: 8, PPN: 2, MsgBytes: 1 << (3 * i)})
	}
	s := coll.NewSpace(points, testutil.SyntheticAlgorithms(), func(coll.Candidate) error { return nil })
	l := NewLedger(s)
	u := &uncertainty{opt: Options{Initial: 3}}
	for round := 1; l.FreeCount() > 0; round++ {
		if _, err := u.Ask(State{Round: round, Want: 1, Ledger: l}); err != nil {
			t.Fatal(err)
		}
		if got, want := len(u.fastest), l.PointsMeasured(); got != want {
			t.Fatalf("round %d: %d points observed, want %d", round, got, want)
		}
		// Round r measures one more algorithm at each of the first r points.
		for i := range min(round, len(points)) {
			free := l.Free(i)
			if len(free) == 0 {
				continue
			}
			testutil.NoError(t, l.Pend(free[0]))
			m := coll.Measurement{Candidate: free[0], Seconds: 1e-6 * float64(1+i)}
			testutil.NoError(t, l.Record(coll.Trial{Measurement: m, State: coll.TrialDone}))
		}
	}
}

// TestAccepts checks which selections the posterior of a campaign accepts. It must accept the selection of other
// models if these agree with the measurements. It must refuse the selection of models that were trained with swapped
// times.
func TestAccepts(t *testing.T) {
	var points []coll.Point
	for _, nodes := range []int{2, 4} {
		for i := range minPredictedPoints / 2 {
			points = append(points, coll.Point{Collective: coll.Bcast, Nodes: nodes, PPN: 1, MsgBytes: 1 << i})
		}
	}
	algorithms := []coll.Algorithm{{Name: "ring"}, {Name: "tree"}}
	l := NewLedger(coll.NewSpace(points, algorithms, func(coll.Candidate) error { return nil }))
	for i := 0; i < len(points); i += 3 {
		for k, alg := range algorithms { // the second algorithm takes twice the time of the first
			c := coll.Candidate{Point: points[i], Algorithm: alg}
			testutil.NoError(t, l.Pend(c))
			testutil.NoError(t, l.Record(coll.Trial{Measurement: coll.Measurement{Candidate: c, Seconds: 1e-5 * float64(1+k)}, State: coll.TrialDone}))
		}
	}
	models := NewModels(l, nil, learner.Options{Model: learner.GaussianProcess, Scaling: preprocess.AlgorithmLog10})
	r := NewStopRule(RuleOptions{Source: Predicted, Criteria: Criteria{Slowdown: 1.03, Mistakes: 0.05}}, l, models)
	_, _, err := r.Round(1, 0, Logged{})
	testutil.NoError(t, err)
	right := DataOf(l, nil)
	swapped, ms := right, l.Measurements()
	for i := range ms {
		ms[i].Seconds = 2e-10 / ms[i].Seconds
	}
	swapped.Measurements = slices.Values(ms)
	for _, tc := range []struct {
		name string
		data learner.Data
		want bool
	}{{"measured", right, true}, {"swapped", swapped, false}} {
		forest := testutil.Must(learner.Fit(tc.data, learner.Options{Model: learner.Forest, Scaling: preprocess.AlgorithmLog10}))(t)
		if got := testutil.Must(r.Accepts(forest))(t); got != tc.want {
			t.Errorf("forests of %s times: accepted %t", tc.name, got)
		}
	}
}
