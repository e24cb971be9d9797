package learner_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/gp"
	"tutti/surrogate/learner"
)

// A learner that is given the belief of its measurements predicts what one does that forms
// it: nothing but work is spared.
func TestBeliefIsThatOfTheLearner(t *testing.T) {
	train := few(t, 20)
	belief, err := learner.Believe(train, nil)
	if err != nil {
		t.Fatal(err)
	}
	opt := learner.Options{Scaling: preprocess.AlgorithmLog10, Model: learner.GaussianProcess}
	want, err := fit(t, train, opt).Predict(dense(t))
	if err != nil {
		t.Fatal(err)
	}
	opt.Belief = belief
	got, err := fit(t, train, opt).Predict(dense(t))
	if err != nil {
		t.Fatal(err)
	}
	for a := range want {
		for i := range want[a] {
			if got[a][i] != want[a][i] {
				t.Fatalf("prediction %g with the belief, %g without", got[a][i], want[a][i])
			}
		}
	}
}

// What to measure is asked of the same process without steps: at what was measured both
// say the same, and an algorithm that was never measured has a task of its own.
func TestSmoothBelief(t *testing.T) {
	train := few(t, 20)
	belief, err := learner.Believe(train, nil)
	if err != nil {
		t.Fatal(err)
	}
	smooth, err := belief.Smooth()
	if err != nil {
		t.Fatal(err)
	}
	if p := smooth.Params(); p.Steps != 0 || p.Split != 0 {
		t.Errorf("the smooth process has steps %g and a split %g", p.Steps, p.Split)
	}
	for _, m := range train[:5] {
		task := belief.Task(m.Algorithm, 0)
		mean := smooth.Means(preprocess.SurrogateRows([]coll.Point{m.Point}), task+1)[task][0]
		if math.Abs(mean-math.Log10(m.Seconds)) > 0.05 {
			t.Errorf("%v: log10 time %g believed, %g measured", m.Candidate, mean, math.Log10(m.Seconds))
		}
	}
	one, other := belief.Task(coll.Algorithm{Name: "new"}, 0), belief.Task(coll.Algorithm{Name: "newer"}, 1)
	if one == other || one < 4 || other < 4 {
		t.Errorf("tasks %d and %d of algorithms that were never measured", one, other)
	}
	if _, err := learner.Believe(nil, nil); err == nil {
		t.Error("a belief of nothing: want an error")
	}
}

// What a disturbed job does to all that it measures is not taken for what algorithms do.
func TestBeliefKnowsJobs(t *testing.T) {
	train := few(t, 20)
	rng := rand.New(rand.NewPCG(3, 4))
	done := make([]float64, 12) // by each job, natural logarithms
	for k := range done {
		done[k] = 0.5 * rng.NormFloat64()
	}
	for i := range train {
		k := rng.IntN(len(done))
		train[i].Seconds *= math.Exp(done[k])
		train[i].Job = fmt.Sprint("job", k)
	}
	known := compared(t, train, modelled(learner.GaussianProcess))
	for i := range train {
		train[i].Job = ""
	}
	if unknown := compared(t, train, modelled(learner.GaussianProcess)); known.Mistakes > unknown.Mistakes/2 {
		t.Errorf("%.3f of mistakes where jobs are known, %.3f where they are not: want half at most", known.Mistakes, unknown.Mistakes)
	}
}

func BenchmarkBelieve(b *testing.B) {
	train := few(b, 20)
	for b.Loop() {
		if _, err := learner.Believe(train, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// What is learnt from the first measurements is learnt anew where one of them was put right: the
// belief is that which is formed anew.
func TestBeliefIsPutRight(t *testing.T) {
	wrong := few(t, 20)[:42]
	right := slices.Clone(wrong)
	wrong[5].Seconds *= 30
	before, err := learner.Believe(wrong, nil)
	if err != nil {
		t.Fatal(err)
	}
	if z := leftOut(t, before, 0, len(wrong)); z[5] < 4 || z[5] != slices.Max(z) {
		t.Errorf("what is 30 times as long exceeds the others by %g deviations, the most is %g", z[5], slices.Max(z))
	}
	after, err := before.Next(right, nil)
	if err != nil {
		t.Fatal(err)
	}
	anew, err := learner.Believe(right, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range leftOut(t, after, 30, len(right)) {
		if want := leftOut(t, anew, 30, len(right))[i]; got != want {
			t.Errorf("measurement %d exceeds the others by %g deviations, by %g anew", 30+i, got, want)
		}
	}
}

// A second measurement that bears out the first changes nothing: no process is made anew.
func TestBeliefIsBorneOut(t *testing.T) {
	train := few(t, 20)
	before, err := learner.Believe(train, nil)
	if err != nil {
		t.Fatal(err)
	}
	after, err := before.Next(train, []preprocess.Repeat{{First: train[3], Again: train[3], Seen: len(train)}})
	if err != nil {
		t.Fatal(err)
	}
	if smoothOf(t, after) != smoothOf(t, before) {
		t.Error("the Gaussian process was made anew of the same measurements")
	}
	changed := slices.Clone(train)
	changed[len(train)-1].Seconds *= 2
	if after, err = before.Next(changed, nil); err != nil {
		t.Fatal(err)
	}
	if smoothOf(t, after) == smoothOf(t, before) {
		t.Error("the Gaussian process is that of other measurements")
	}
}

func smoothOf(t *testing.T, b *learner.Belief) *gp.GP {
	t.Helper()
	smooth, err := b.Smooth()
	if err != nil {
		t.Fatal(err)
	}
	return smooth
}

func leftOut(t *testing.T, b *learner.Belief, first, measurements int) []float64 {
	t.Helper()
	z, err := b.LeftOut(first, measurements)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// A belief that follows others is that which is formed anew, whether something is
// learnt again in between or not, and of fewer measurements, too.
func TestNextIsThatFormedAnew(t *testing.T) {
	all := few(t, 20)
	opt := learner.Options{Scaling: preprocess.AlgorithmLog10, Model: learner.GaussianProcess}
	belief := opt.Nothing()
	for _, n := range []int{40, 42, 60, len(all), 42} {
		var err error
		if belief, err = belief.Next(all[:n], nil); err != nil {
			t.Fatal(err)
		}
		opt.Belief = belief
		got, err := fit(t, all[:n], opt).Predict(dense(t))
		if err != nil {
			t.Fatal(err)
		}
		want, err := fit(t, all[:n], learner.Options{Scaling: opt.Scaling, Model: opt.Model}).Predict(dense(t))
		if err != nil {
			t.Fatal(err)
		}
		for a := range want {
			for i := range want[a] {
				if got[a][i] != want[a][i] {
					t.Fatalf("%d measurements: prediction %g after others, %g anew", n, got[a][i], want[a][i])
				}
			}
		}
	}
}
