package online

import (
	"math"
	"math/rand/v2"
	"testing"
)

// gain against the mean of draws of the new expected time.
func TestGain(t *testing.T) {
	tests := []struct{ mean, sd, best, noise float64 }{
		{0, 0.7, 1, 0.0025}, {0.5, 0.4, 1, 0.01}, {-0.3, 0.3, 1.2, 0.01}, {0, 0.05, 1, 0.0025},
	}
	for _, tc := range tests {
		j := &joint{mean: []float64{tc.mean}, cov: [][]float64{{tc.sd * tc.sd}}}
		now := j.expected(0)
		rng := rand.New(rand.NewPCG(1, 2))
		const n = 40_000
		sum := 0.0
		for range n {
			after := &joint{mean: []float64{tc.mean}, cov: [][]float64{{tc.sd * tc.sd}}}
			truth := tc.mean + tc.sd*rng.NormFloat64()
			after.observe(0, truth+math.Sqrt(tc.noise)*rng.NormFloat64(), tc.noise)
			sum += min(now, tc.best) - min(after.expected(0), tc.best)
		}
		if got, want := j.gain(0, tc.best, tc.noise), sum/n; math.Abs(got-want) > 0.01*now {
			t.Errorf("%+v: gain %g, drawn %g", tc, got, want)
		}
	}
}

// Two entries of correlation 0.8: the textbook's conditional normal distribution.
func TestObserve(t *testing.T) {
	j := &joint{mean: []float64{0, 1}, cov: [][]float64{{1, 0.8}, {0.8, 1}}}
	j.observe(0, 2, 1)
	for name, v := range map[string][2]float64{
		"mean": {j.mean[0], 1}, "the other's mean": {j.mean[1], 1.8},
		"variance": {j.cov[0][0], 0.5}, "covariance": {j.cov[0][1], 0.4}, "the other's variance": {j.cov[1][1], 0.68},
	} {
		if math.Abs(v[0]-v[1]) > 1e-12 {
			t.Errorf("%s %g, want %g", name, v[0], v[1])
		}
	}
	j.forget(0, 2, 1, 0.5, 0.25)
	if j.cov[0][0] != 1 || math.Abs(j.cov[1][1]-1.43) > 1e-12 || math.Abs(j.cov[0][1]-0.9) > 1e-12 {
		t.Errorf("after a change: %v", j.cov)
	}
}

func TestAccount(t *testing.T) {
	a := account{over: 0.03, calls: make([]float64, 1)}
	if a.holds(1, 1.01) {
		t.Error("holds the price of a call before any")
	}
	a.spend(0, 100, 1, 1) // three seconds for the run
	if !a.holds(1, 3.9) || a.holds(1, 4.1) {
		t.Errorf("balance %g, want 3", a.balance)
	}
	a.spend(0, 100, 1, 3.5)
	a.spend(0, 100, 1, 0.5)
	if math.Abs(a.balance-1) > 1e-12 {
		t.Errorf("balance %g, want 1", a.balance)
	}
	for range 98 {
		a.spend(0, 100, 1, 1)
	}
	if math.Abs(a.balance-1.03) > 1e-12 { // the 101st call was not traced
		t.Errorf("balance %g, want 1.03", a.balance)
	}
}
