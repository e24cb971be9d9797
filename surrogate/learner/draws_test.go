package learner_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/surrogate/learner"
)

// TestDraws checks that draws of a measured time vary by its noise, and that draws of the other times vary
// around the predictions. An algorithm without measurements must have no time in a draw.
func TestDraws(t *testing.T) {
	train := everyKth(t, 20)
	p := testutil.Must(learner.NewPosterior(learner.Data{Measurements: slices.Values(train)}))(t)
	known, unknown := train[0].Algorithm, coll.Algorithm{Name: "new"}
	other := train[len(train)-1].Point
	q := learner.DrawQuery{
		Points: []coll.Point{train[0].Point, other}, Open: [][]coll.Algorithm{{known, unknown}, {known}},
		Measured: map[coll.Candidate]learner.MeasuredTime{train[0].Candidate: {Log: -4, Noise: 0.01}},
		Rand:     rand.New(rand.NewPCG(1, 1)),
	}
	draws := testutil.Must(p.Draws(q))(t)
	var measured, predicted []float64
	for _, logs := range draws.Next(400) {
		measured, predicted = append(measured, logs[0][0]), append(predicted, logs[1][0])
		if !math.IsNaN(logs[0][1]) {
			t.Fatalf("log10 time %g of an algorithm that was never measured", logs[0][1])
		}
	}
	if mean, sd := stat.MeanStdDev(measured, nil); math.Abs(mean+4) > 0.02 || math.Abs(sd-0.1) > 0.02 {
		t.Errorf("a measured time of -4 ± 0.1 is %g ± %g in draws", mean, sd)
	}
	truth := testutil.SyntheticMeasurements([]coll.Point{other})
	for _, m := range truth {
		if want := math.Log10(m.Seconds); m.Algorithm == known && math.Abs(stat.Mean(predicted, nil)-want) > 0.1 {
			t.Errorf("log10 time %g on average, want %g", stat.Mean(predicted, nil), want)
		}
	}
	q.Scores = []float64{1}
	if _, err := p.Draws(q); err == nil {
		t.Error("scores of other error models: want an error")
	}
}

// TestScore checks that the scores favor wide error models after measurements far from their predictions,
// and that older measurements have less weight.
func TestScore(t *testing.T) {
	train := everyKth(t, 20)
	p := testutil.Must(learner.NewPosterior(learner.Data{Measurements: slices.Values(train)}))(t)
	near := testutil.SyntheticMeasurements(dense(t)[:10])
	far := scaleTimes(near, near[0].Algorithm, 3)
	narrowest := func(s learner.Scores) float64 { return s[3] - s[len(s)-1] }
	fit := testutil.Must(p.Score(nil, slices.Values(near)))(t)
	misfit := testutil.Must(p.Score(nil, slices.Values(far)))(t)
	if narrowest(fit) <= 0 || narrowest(misfit) >= 0 {
		t.Errorf("the narrowest normal error model gains %g with small errors and %g with large ones", narrowest(fit), narrowest(misfit))
	}
	both := testutil.Must(p.Score(misfit, slices.Values(near)))(t)
	want := narrowest(misfit)*math.Pow(0.99, float64(len(near))) + narrowest(fit)
	if math.Abs(narrowest(both)-want) > 1e-9 {
		t.Errorf("gain %g after both, want %g", narrowest(both), want)
	}
}
