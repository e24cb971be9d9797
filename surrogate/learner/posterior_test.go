package learner_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// TestFitWithPosterior checks that a learner makes the same predictions whether it is given a posterior or
// computes the posterior itself.
func TestFitWithPosterior(t *testing.T) {
	train := everyKth(t, 20)
	posterior := testutil.Must(learner.NewPosterior(learner.Data{Measurements: slices.Values(train)}))(t)
	opt := learner.Options{Scaling: preprocess.AlgorithmLog10, Model: learner.GaussianProcess}
	want := testutil.Must(fit(t, train, opt).Predict(dense(t)))(t)
	got := testutil.Must(fitData(t, learner.Data{Measurements: slices.Values(train), Posterior: posterior}, opt).Predict(dense(t)))(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("predictions (-without +with the posterior):\n%s", diff)
	}
}

// TestPosteriorTasks checks that the Gaussian process agrees with the measurements. An algorithm without
// measurements must have its own task.
func TestPosteriorTasks(t *testing.T) {
	train := everyKth(t, 20)
	posterior := testutil.Must(learner.NewPosterior(learner.Data{Measurements: slices.Values(train)}))(t)
	for _, m := range train[:5] {
		task := posterior.Task(m.Algorithm, 0)
		mean := posterior.GP().Means(preprocess.SurrogateRows([]coll.Point{m.Point}), task+1)[task][0]
		if math.Abs(mean-math.Log10(m.Seconds)) > 0.05 {
			t.Errorf("%v: log10 time %g predicted, %g measured", m.Candidate, mean, math.Log10(m.Seconds))
		}
	}
	one, other := posterior.Task(coll.Algorithm{Name: "new"}, 0), posterior.Task(coll.Algorithm{Name: "newer"}, 1)
	if one == other || one < 4 || other < 4 {
		t.Errorf("tasks %d and %d of algorithms that were never measured", one, other)
	}
	if _, err := learner.NewPosterior(learner.Data{Measurements: slices.Values[[]coll.Measurement](nil)}); err == nil {
		t.Error("no measurements: want an error")
	}
}

// TestPosteriorSeparatesJobs checks that an effect that all measurements of a job have in common is not
// attributed to the algorithms.
func TestPosteriorSeparatesJobs(t *testing.T) {
	train := everyKth(t, 20)
	rng := rand.New(rand.NewPCG(3, 4))
	done := make([]float64, 12) // common effect of each job, natural logarithm
	for k := range done {
		done[k] = 0.5 * rng.NormFloat64()
	}
	for i := range train {
		k := rng.IntN(len(done))
		train[i].Seconds *= math.Exp(done[k])
		train[i].Job = fmt.Sprint("job", k)
	}
	known := qualityOf(t, learner.Data{Measurements: slices.Values(train)}, optionsOf(learner.GaussianProcess))
	for i := range train {
		train[i].Job = ""
	}
	if unknown := qualityOf(t, learner.Data{Measurements: slices.Values(train)}, optionsOf(learner.GaussianProcess)); known.Mistakes > unknown.Mistakes/2 {
		t.Errorf("%.3f of mistakes where jobs are known, %.3f where they are not: want half at most", known.Mistakes, unknown.Mistakes)
	}
}

func BenchmarkNewPosterior(b *testing.B) {
	train := everyKth(b, 20)
	for b.Loop() {
		if _, err := learner.NewPosterior(learner.Data{Measurements: slices.Values(train)}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestUpdateAfterACorrection checks that an update learns the hyperparameters again if a measurement was
// corrected, so that the result equals a new posterior.
func TestUpdateAfterACorrection(t *testing.T) {
	wrong := everyKth(t, 20)[:42]
	right := slices.Clone(wrong)
	wrong[5].Seconds *= 30
	before := testutil.Must(learner.NewPosterior(learner.Data{Measurements: slices.Values(wrong)}))(t)
	if z := before.LOOResiduals(0, len(wrong)); z[5] < 4 || z[5] != slices.Max(z) {
		t.Errorf("the time 30 times as long has the residual %g, the greatest is %g", z[5], slices.Max(z))
	}
	after := testutil.Must(before.Update(learner.Data{Measurements: slices.Values(right)}))(t)
	fresh := testutil.Must(learner.NewPosterior(learner.Data{Measurements: slices.Values(right)}))(t)
	for i, got := range after.LOOResiduals(30, len(right)) {
		if want := fresh.LOOResiduals(30, len(right))[i]; got != want {
			t.Errorf("measurement %d has the residual %g, %g in a new posterior", 30+i, got, want)
		}
	}
}

// TestUpdateAfterAnEqualReplicate checks that the Gaussian process is reused after a replicate that equals
// the first measurement, because it changes nothing.
func TestUpdateAfterAnEqualReplicate(t *testing.T) {
	train := everyKth(t, 20)
	before := testutil.Must(learner.NewPosterior(learner.Data{Measurements: slices.Values(train)}))(t)
	after := testutil.Must(before.Update(learner.Data{Measurements: slices.Values(train), Replicates: []preprocess.Replicate{{First: train[3], Again: train[3], Seen: len(train)}}}))(t)
	if after.GP() != before.GP() {
		t.Error("the Gaussian process was computed again for the same measurements")
	}
	changed := slices.Clone(train)
	changed[len(train)-1].Seconds *= 2
	after = testutil.Must(before.Update(learner.Data{Measurements: slices.Values(changed)}))(t)
	if after.GP() == before.GP() {
		t.Error("the Gaussian process is that of other measurements")
	}
}

// TestUpdateEqualsANewPosterior checks that a posterior after several updates equals a new posterior,
// whether or not hyperparameters were learned in between. The same must hold after an update to fewer
// measurements.
func TestUpdateEqualsANewPosterior(t *testing.T) {
	all := everyKth(t, 20)
	opt := learner.Options{Scaling: preprocess.AlgorithmLog10, Model: learner.GaussianProcess}
	posterior := new(learner.Posterior)
	for _, n := range []int{40, 42, 60, len(all), 42} {
		posterior = testutil.Must(posterior.Update(learner.Data{Measurements: slices.Values(all[:n])}))(t)
		got := testutil.Must(fitData(t, learner.Data{Measurements: slices.Values(all[:n]), Posterior: posterior}, opt).Predict(dense(t)))(t)
		want := testutil.Must(fit(t, all[:n], learner.Options{Scaling: opt.Scaling, Model: opt.Model}).Predict(dense(t)))(t)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("predictions from %d measurements (-new posterior +after updates):\n%s", n, diff)
		}
	}
}

func TestLengthScalesMatchColumns(t *testing.T) {
	rows := preprocess.SurrogateRows([]coll.Point{line(0)})
	if got := len(learner.LengthScales()); got != len(rows[0]) {
		t.Errorf("%d length scales for %d columns", got, len(rows[0]))
	}
}

// TestObservationsHaveExtraNoise checks that the variance of a measurement's samples becomes extra noise.
func TestObservationsHaveExtraNoise(t *testing.T) {
	m := coll.Measurement{Seconds: 1e-6, Low: 1e-6, High: math.Pow(10, 0.392) * 1e-6}
	o, _ := learner.Observations(10, slices.Values([]coll.Measurement{m}), map[coll.Algorithm]int{{}: 0}, preprocess.Noise{})
	if math.Abs(o.Extra[0]-0.01) > 1e-9 {
		t.Errorf("extra noise %g, want 0.01", o.Extra[0])
	}
}

func TestObservations(t *testing.T) {
	a, b := coll.Algorithm{Name: "a"}, coll.Algorithm{Name: "b"}
	p, q := coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 8}, coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 1, MsgBytes: 8}
	m := func(p coll.Point, a coll.Algorithm, seconds float64) coll.Measurement {
		return coll.Measurement{Candidate: coll.Candidate{Point: p, Algorithm: a}, Seconds: seconds}
	}
	o, _ := learner.Observations(10, slices.Values([]coll.Measurement{m(q, b, 0.1), m(p, b, 1), m(q, a, 10)}), map[coll.Algorithm]int{a: 0, b: 1}, preprocess.Noise{})
	if want := []int{0, 1, 0}; !slices.Equal(o.At, want) {
		t.Errorf("rows %v, want %v", o.At, want)
	}
	if want := []int{1, 1, 0}; !slices.Equal(o.Task, want) {
		t.Errorf("tasks %v, want %v", o.Task, want)
	}
	if want := []float64{-1, 0, 1}; !nearly(o.Y, want) || len(o.X) != 2 {
		t.Errorf("targets %v at %d rows, want %v at 2", o.Y, len(o.X), want)
	}
	if o.Source != nil {
		t.Errorf("sources %v, want none", o.Source)
	}
	with, _ := learner.Observations(10, slices.Values([]coll.Measurement{m(q, b, 0.1)}), map[coll.Algorithm]int{b: 0}, preprocess.Noise{},
		[]coll.Measurement{m(p, b, 1), m(q, a, 10)}, []coll.Measurement{m(q, b, 100)})
	if want := []int{0, 1, 2}; !slices.Equal(with.Source, want) || !slices.Equal(with.At, []int{0, 1, 0}) || !nearly(with.Y, []float64{-1, 0, 2}) {
		t.Errorf("with earlier ones: sources %v, want %v; %+v", with.Source, want, with)
	}
}

// TestObservationsOfJobs checks that jobs are numbered in the order of their first measurement, separately
// for each campaign. A measurement without a job must have the number 0.
func TestObservationsOfJobs(t *testing.T) {
	a := coll.Algorithm{Name: "a"}
	m := func(job string) coll.Measurement {
		return coll.Measurement{Candidate: coll.Candidate{Algorithm: a}, Seconds: 1, Job: job}
	}
	o, _ := learner.Observations(10, slices.Values([]coll.Measurement{m("x"), m(""), m("y"), m("x")}), map[coll.Algorithm]int{a: 0}, preprocess.Noise{},
		[]coll.Measurement{m("x"), m("y")}, []coll.Measurement{m("x")})
	if want := []int{1, 0, 2, 1, 3, 4, 5}; !slices.Equal(o.Job, want) {
		t.Errorf("jobs %v, want %v", o.Job, want)
	}
}

func nearly(got, want []float64) bool {
	return slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
}

// scaleTimes returns a copy of the measurements in which the times of one algorithm are multiplied by a
// factor.
func scaleTimes(ms []coll.Measurement, alg coll.Algorithm, times float64) []coll.Measurement {
	out := slices.Clone(ms)
	for i := range out {
		if out[i].Algorithm == alg {
			out[i].Seconds *= times
		}
	}
	return out
}

// TestEarlierCampaigns checks that a complete earlier campaign makes up for few measurements. With
// measurements at only two points, choices must be at most half a percent slower than those of a complete new
// campaign. This must hold if nothing changed, and also if one algorithm was twice as slow in the earlier
// campaign. The two points alone do not suffice.
func TestEarlierCampaigns(t *testing.T) {
	all := testutil.SyntheticMeasurements(dense(t))
	points := dense(t)
	now := testutil.SyntheticMeasurements([]coll.Point{points[len(points)/4], points[2*len(points)/3]})
	opt := optionsOf(learner.GaussianProcess)
	most := qualityOf(t, learner.Data{Measurements: slices.Values(all)}, opt).Slowdown + 0.005
	if alone := qualityOf(t, learner.Data{Measurements: slices.Values(now)}, opt).Slowdown; alone <= most {
		t.Errorf("slowdown %.3f of two points alone, want more than %.3f", alone, most)
	}
	for _, times := range []float64{1, 2} {
		d := learner.Data{Measurements: slices.Values(now), Earlier: [][]coll.Measurement{scaleTimes(all, testutil.SyntheticAlgorithms()[0], times)}}
		if got := qualityOf(t, d, opt).Slowdown; got > most {
			t.Errorf("slowdown %.3f of two points after a campaign in which an algorithm was %g times as slow, want %.3f at most", got, times, most)
		}
	}
}

// TestEarlierAlgorithm checks that an algorithm with measurements only in an earlier campaign is predicted
// as well as the others.
func TestEarlierAlgorithm(t *testing.T) {
	known := testutil.SyntheticAlgorithms()[1]
	now := everyKth(t, 25)
	without := slices.DeleteFunc(slices.Clone(now), func(m coll.Measurement) bool { return m.Algorithm == known })
	l := fitData(t, learner.Data{Measurements: slices.Values(without), Earlier: [][]coll.Measurement{now}}, optionsOf(learner.GaussianProcess))
	if !slices.Contains(l.Algorithms(), known) {
		t.Errorf("predicts %v, want %v in addition", l.Algorithms(), known)
	}
	if _, err := l.Predict(dense(t)); err != nil {
		t.Error(err)
	}
}

// TestPosteriorLearnsSteps checks that the parameter Steps becomes larger if the times of one algorithm jump
// at two message sizes. Libraries cause such jumps when they switch protocols.
func TestPosteriorLearnsSteps(t *testing.T) {
	steps := func(factor float64) float64 {
		train := everyKth(t, 5)
		for i, m := range train {
			if m.Algorithm == train[0].Algorithm && m.Point.MsgBytes >= 512 && m.Point.MsgBytes < 8192 {
				train[i].Seconds *= factor
			}
		}
		return testutil.Must(learner.NewPosterior(learner.Data{Measurements: slices.Values(train)}))(t).GP().Params().Steps
	}
	if without, with := steps(1), steps(5); !(without < with) {
		t.Errorf("steps %g of smooth times, %g with a switch of protocols", without, with)
	}
}
