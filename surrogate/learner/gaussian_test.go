package learner_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

func optionsOf(m learner.Model) learner.Options {
	opt := options(preprocess.AlgorithmLog10)
	opt.Model = m
	return opt
}

// qualityOf trains a model on d, which then chooses an algorithm at each point that `dense` returns. It returns a
// summary of the slowdowns of these choices.
func qualityOf(t *testing.T, d learner.Data, opt learner.Options) metrics.Summary {
	t.Helper()
	validation := testutil.Must(fitData(t, d, opt).Compare(testutil.SyntheticMeasurements(dense(t))))(t)
	return testutil.Must(metrics.Summarize(validation.Slowdowns, metrics.Options{}))(t)
}

// everyKth returns measurements at every k-th of the points that `dense` returns, in a fixed shuffled order.
func everyKth(t testing.TB, k int) []coll.Measurement {
	points := dense(t)
	var some []coll.Point
	for i := range points {
		if (7*i)%k == 0 {
			some = append(some, points[i])
		}
	}
	return testutil.SyntheticMeasurements(some)
}

// TestGaussianProcessNeedsFewerPoints checks that a Gaussian process chooses better than forests after
// training at few points, on a machine whose times have no jumps.
func TestGaussianProcessNeedsFewerPoints(t *testing.T) {
	train := everyKth(t, 25)
	forest, process := qualityOf(t, learner.Data{Measurements: slices.Values(train)}, optionsOf(learner.Forest)), qualityOf(t, learner.Data{Measurements: slices.Values(train)}, optionsOf(learner.GaussianProcess))
	t.Logf("slowdown of forest, process: %.3f, %.3f", forest.Slowdown, process.Slowdown)
	if process.Slowdown > 1.03 || process.Slowdown > forest.Slowdown {
		t.Errorf("slowdown of the Gaussian process %.3f, want 1.03 at most and no more than the forests' %.3f", process.Slowdown, forest.Slowdown)
	}
}

// TestGaussianProcessLearnsFromSingleCandidates checks that a Gaussian process can learn although no point
// is measured completely.
func TestGaussianProcessLearnsFromSingleCandidates(t *testing.T) {
	var train []coll.Measurement
	for i, m := range everyKth(t, 10) {
		if i%3 == 0 {
			train = append(train, m)
		}
	}
	if got := qualityOf(t, learner.Data{Measurements: slices.Values(train)}, optionsOf(learner.GaussianProcess)); got.Slowdown > 1.05 {
		t.Errorf("slowdown %.3f, want 1.05 at most", got.Slowdown)
	}
}

// TestGaussianProcessIsDeterministic checks that the same measurements give the same predictions, bit for
// bit.
func TestGaussianProcessIsDeterministic(t *testing.T) {
	train := everyKth(t, 20)
	a, b := predictions(t, train, learner.GaussianProcess), predictions(t, train, learner.GaussianProcess)
	for i := range a {
		if !slices.Equal(a[i], b[i]) {
			t.Fatal("two fits of the same measurements differ")
		}
		for _, v := range a[i] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("prediction %g", v)
			}
		}
	}
}

// TestGaussianProcessIgnoresOrder checks that the order of 32 measurements changes the predictions of a
// Gaussian process only by rounding errors. With more measurements the order matters, because
// hyperparameters are learned from the first ones. Forests depend on the order, because they draw bootstrap
// samples by row.
func TestGaussianProcessIgnoresOrder(t *testing.T) {
	train := everyKth(t, 20)[:32]
	want := predictions(t, train, learner.GaussianProcess)
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 1))
		shuffled := slices.Clone(train)
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		got := predictions(t, shuffled, learner.GaussianProcess)
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Fatalf("seed %d: predictions (-original +shuffled training set):\n%s", seed, diff)
		}
	}
}

// predictions trains a model on some measurements. It returns the model's predictions at the points that `dense`
// returns.
func predictions(t *testing.T, train []coll.Measurement, m learner.Model) [][]float64 {
	t.Helper()
	return testutil.Must(fit(t, train, optionsOf(m)).Predict(dense(t)))(t)
}

func TestGaussianProcessOfOneMeasurement(t *testing.T) {
	l := fit(t, []coll.Measurement{timed(line(3), "ring", 1e-5)}, optionsOf(learner.GaussianProcess))
	got, err := l.Predict([]coll.Point{line(9)})
	if err != nil || got[0][0] != 0 {
		t.Errorf("%v, %v, want the only algorithm at 0", got, err)
	}
}

func TestModelErrors(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	train := everyKth(t, 50)
	opt := optionsOf("tree")
	_, err := learner.Fit(learner.Data{Measurements: slices.Values(train)}, opt)
	golden("model tree", err)
	opt = optionsOf(learner.GaussianProcess)
	opt.Scaling = preprocess.None
	_, err = learner.Fit(learner.Data{Measurements: slices.Values(train)}, opt)
	golden("process without scaling", err)
	for _, m := range learner.Models() {
		if err := m.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// noisyReplicates returns replicates of the measurements. The two times of each replicate differ by the
// given number of decades.
func noisyReplicates(ms []coll.Measurement, decades float64) []preprocess.Replicate {
	var out []preprocess.Replicate
	for _, m := range ms {
		again := m
		again.Seconds *= math.Pow(10, decades)
		out = append(out, preprocess.Replicate{First: m, Again: again})
	}
	return out
}

// TestNoisyCandidates checks that every measurement is trusted if replicates agree. If replicates
// differ, only measurements that are far from their predictions are trusted.
func TestNoisyCandidates(t *testing.T) {
	ms := everyKth(t, 20)
	opt := learner.Options{Scaling: preprocess.AlgorithmLog10, Model: learner.GaussianProcess}
	quiet := fit(t, ms, opt)
	if got := quiet.NoisyCandidates(slices.Values(ms)); len(got) > 0 {
		t.Errorf("%d of %d measurements are not trusted on a quiet machine", len(got), len(ms))
	}
	d := learner.Data{Measurements: slices.Values(ms), Replicates: noisyReplicates(ms, 0.1)}
	l := fitData(t, d, opt)
	if got, want := math.Sqrt(l.Posterior().Noise().Of(ms[0])), 0.1/math.Sqrt(2*0.455); math.Abs(got-want) > 0.01 {
		t.Errorf("deviation %g, want %g", got, want)
	}
	if got := l.NoisyCandidates(slices.Values(ms)); len(got) < len(ms)*9/10 {
		t.Errorf("only %d of %d measurements are not trusted on a noisy machine", len(got), len(ms))
	}
	surprise := ms[7]
	surprise.Seconds *= 1000
	if l.NoisyCandidates(slices.Values([]coll.Measurement{surprise}))[surprise.Candidate] {
		t.Error("a measurement a thousand times as long as predicted is not trusted")
	}
	forests := fitData(t, d, learner.Options{Scaling: preprocess.AlgorithmLog10})
	if got := forests.NoisyCandidates(slices.Values(ms)); len(got) > 0 {
		t.Errorf("%d of %d measurements are not trusted by forests, which ignore noise", len(got), len(ms))
	}
}
