package learner_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/preprocess"
	"tutti/surrogate/gp"
	"tutti/surrogate/learner"
)

// A learner with a given posterior makes the same predictions as a learner that computes it.
func TestFitWithPosterior(t *testing.T) {
	train := everyKth(t, 20)
	posterior := testutil.Must(learner.NewPosterior(learner.Data{Measurements: train}))(t)
	opt := learner.Options{Scaling: preprocess.AlgorithmLog10, Model: learner.GaussianProcess}
	want := testutil.Must(fit(t, train, opt).Predict(dense(t)))(t)
	got := testutil.Must(fitData(t, learner.Data{Measurements: train, Posterior: posterior}, opt).Predict(dense(t)))(t)
	for a := range want {
		for i := range want[a] {
			if got[a][i] != want[a][i] {
				t.Fatalf("prediction %g with the posterior, %g without", got[a][i], want[a][i])
			}
		}
	}
}

// The smooth process agrees with the measurements. An algorithm without measurements has its own
// task.
func TestSmoothPosterior(t *testing.T) {
	train := everyKth(t, 20)
	posterior := testutil.Must(learner.NewPosterior(learner.Data{Measurements: train}))(t)
	smooth := testutil.Must(posterior.Smooth())(t)
	if p := smooth.Params(); p.Steps != 0 || p.Split != 0 {
		t.Errorf("the smooth process has steps %g and split %g", p.Steps, p.Split)
	}
	for _, m := range train[:5] {
		task := posterior.Task(m.Algorithm, 0)
		mean := smooth.Means(preprocess.SurrogateRows([]coll.Point{m.Point}), task+1)[task][0]
		if math.Abs(mean-math.Log10(m.Seconds)) > 0.05 {
			t.Errorf("%v: log10 time %g predicted, %g measured", m.Candidate, mean, math.Log10(m.Seconds))
		}
	}
	one, other := posterior.Task(coll.Algorithm{Name: "new"}, 0), posterior.Task(coll.Algorithm{Name: "newer"}, 1)
	if one == other || one < 4 || other < 4 {
		t.Errorf("tasks %d and %d of algorithms that were never measured", one, other)
	}
	if _, err := learner.NewPosterior(learner.Data{Measurements: nil}); err == nil {
		t.Error("no measurements: want an error")
	}
}

// A job's common effect on all its measurements is not attributed to the algorithms.
func TestPosteriorSeparatesJobs(t *testing.T) {
	train := everyKth(t, 20)
	rng := rand.New(rand.NewPCG(3, 4))
	done := make([]float64, 12) // effect of each job, natural logarithm
	for k := range done {
		done[k] = 0.5 * rng.NormFloat64()
	}
	for i := range train {
		k := rng.IntN(len(done))
		train[i].Seconds *= math.Exp(done[k])
		train[i].Job = fmt.Sprint("job", k)
	}
	known := qualityOf(t, learner.Data{Measurements: train}, optionsOf(learner.GaussianProcess))
	for i := range train {
		train[i].Job = ""
	}
	if unknown := qualityOf(t, learner.Data{Measurements: train}, optionsOf(learner.GaussianProcess)); known.Mistakes > unknown.Mistakes/2 {
		t.Errorf("%.3f of mistakes where jobs are known, %.3f where they are not: want half at most", known.Mistakes, unknown.Mistakes)
	}
}

func BenchmarkNewPosterior(b *testing.B) {
	train := everyKth(b, 20)
	for b.Loop() {
		if _, err := learner.NewPosterior(learner.Data{Measurements: train}); err != nil {
			b.Fatal(err)
		}
	}
}

// An update with a corrected measurement learns the hyperparameters again, so it equals a new
// posterior.
func TestUpdateAfterACorrection(t *testing.T) {
	wrong := everyKth(t, 20)[:42]
	right := slices.Clone(wrong)
	wrong[5].Seconds *= 30
	before := testutil.Must(learner.NewPosterior(learner.Data{Measurements: wrong}))(t)
	if z := looResiduals(t, before, 0, len(wrong)); z[5] < 4 || z[5] != slices.Max(z) {
		t.Errorf("the time 30 times as long has the residual %g, the greatest is %g", z[5], slices.Max(z))
	}
	after := testutil.Must(before.Update(learner.Data{Measurements: right}))(t)
	fresh := testutil.Must(learner.NewPosterior(learner.Data{Measurements: right}))(t)
	for i, got := range looResiduals(t, after, 30, len(right)) {
		if want := looResiduals(t, fresh, 30, len(right))[i]; got != want {
			t.Errorf("measurement %d has the residual %g, %g in a new posterior", 30+i, got, want)
		}
	}
}

// A replicate that agrees with the first measurement changes nothing, so the Gaussian process is
// reused.
func TestUpdateAfterAnEqualReplicate(t *testing.T) {
	train := everyKth(t, 20)
	before := testutil.Must(learner.NewPosterior(learner.Data{Measurements: train}))(t)
	after := testutil.Must(before.Update(learner.Data{Measurements: train, Replicates: []preprocess.Replicate{{First: train[3], Again: train[3], Seen: len(train)}}}))(t)
	if smoothOf(t, after) != smoothOf(t, before) {
		t.Error("the Gaussian process was computed again for the same measurements")
	}
	changed := slices.Clone(train)
	changed[len(train)-1].Seconds *= 2
	after = testutil.Must(before.Update(learner.Data{Measurements: changed}))(t)
	if smoothOf(t, after) == smoothOf(t, before) {
		t.Error("the Gaussian process is that of other measurements")
	}
}

func smoothOf(t *testing.T, p *learner.Posterior) *gp.GP {
	t.Helper()
	return testutil.Must(p.Smooth())(t)
}

func looResiduals(t *testing.T, p *learner.Posterior, first, measurements int) []float64 {
	t.Helper()
	return testutil.Must(p.LOOResiduals(first, measurements))(t)
}

// A posterior after several updates equals a new posterior, whether or not hyperparameters were
// learned in between. The same holds for an update to fewer measurements.
func TestUpdateEqualsANewPosterior(t *testing.T) {
	all := everyKth(t, 20)
	opt := learner.Options{Scaling: preprocess.AlgorithmLog10, Model: learner.GaussianProcess}
	posterior := learner.EmptyPosterior(nil)
	for _, n := range []int{40, 42, 60, len(all), 42} {
		posterior = testutil.Must(posterior.Update(learner.Data{Measurements: all[:n]}))(t)
		got := testutil.Must(fitData(t, learner.Data{Measurements: all[:n], Posterior: posterior}, opt).Predict(dense(t)))(t)
		want := testutil.Must(fit(t, all[:n], learner.Options{Scaling: opt.Scaling, Model: opt.Model}).Predict(dense(t)))(t)
		for a := range want {
			for i := range want[a] {
				if got[a][i] != want[a][i] {
					t.Fatalf("%d measurements: prediction %g after updates, %g of a new posterior", n, got[a][i], want[a][i])
				}
			}
		}
	}
}
