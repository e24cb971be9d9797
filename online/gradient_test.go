package online

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"tutti/internal/testutil"
)

// TestGain checks the formula of the method gain. It must agree with the mean of the new expected time over
// random draws.
func TestGain(t *testing.T) {
	tests := []struct{ mean, sd, best, noise float64 }{
		{0, 0.7, 1, 0.0025}, {0.5, 0.4, 1, 0.01}, {-0.3, 0.3, 1.2, 0.01}, {0, 0.05, 1, 0.0025},
	}
	for _, tc := range tests {
		j := &Joint{mean: []float64{tc.mean}, cov: [][]float64{{tc.sd * tc.sd}}}
		now := j.Expected(0)
		rng := rand.New(rand.NewPCG(1, 2))
		const n = 40_000
		sum := 0.0
		for range n {
			after := &Joint{mean: []float64{tc.mean}, cov: [][]float64{{tc.sd * tc.sd}}}
			truth := tc.mean + tc.sd*rng.NormFloat64()
			after.Observe(0, truth+math.Sqrt(tc.noise)*rng.NormFloat64(), tc.noise)
			sum += min(now, tc.best) - min(after.Expected(0), tc.best)
		}
		if got, want := j.gain(0, 1, tc.best, tc.noise), sum/n; math.Abs(got-want) > 0.01*now {
			t.Errorf("%+v: gain %g, drawn %g", tc, got, want)
		}
	}
}

// TestObserve checks that Observe gives the conditional normal distribution that textbooks state. It uses
// two entries with the correlation 0.8.
func TestObserve(t *testing.T) {
	j := &Joint{mean: []float64{0, 1}, cov: [][]float64{{1, 0.8}, {0.8, 1}}}
	j.Observe(0, 2, 1)
	for name, v := range map[string][2]float64{
		"mean": {j.mean[0], 1}, "the other's mean": {j.mean[1], 1.8},
		"variance": {j.cov[0][0], 0.5}, "covariance": {j.cov[0][1], 0.4}, "the other's variance": {j.cov[1][1], 0.68},
	} {
		if math.Abs(v[0]-v[1]) > 1e-12 {
			t.Errorf("%s %g, want %g", name, v[0], v[1])
		}
	}
}

// TestBoostedMatchesXGBoost compares predictions with those of XGBoost, which testdata/record.py recorded.
func TestBoostedMatchesXGBoost(t *testing.T) {
	var recorded struct {
		Rows, Points       [][]float64
		Times, Predictions []float64
	}
	testutil.NoError(t, json.Unmarshal(testutil.Must(os.ReadFile("testdata/xgboost.json"))(t), &recorded))
	once := make([]float64, len(recorded.Rows))
	for i := range once {
		once[i] = 1
	}
	trees := fitBoosted(recorded.Rows, recorded.Times, once)
	for i, p := range recorded.Points {
		// XGBoost calculates with 32-bit numbers, so small differences are allowed.
		if got, want := trees.predict(p), recorded.Predictions[i]; math.Abs(got/want-1) > 1e-3 {
			t.Errorf("at %v: %g, XGBoost predicts %g", p, got, want)
		}
	}
}

// TestBoostedWeights checks that a row of weight 3 counts as three rows.
func TestBoostedWeights(t *testing.T) {
	rows, times := [][]float64{{1, 1, 8}, {2, 1, 8}, {2, 1, 64}}, []float64{10, 20, 40}
	weighted := fitBoosted(rows, times, []float64{3, 1, 1})
	repeated := fitBoosted(append(rows, rows[0], rows[0]), append(times, times[0], times[0]), []float64{1, 1, 1, 1, 1})
	for _, row := range rows {
		if got, want := weighted.predict(row), repeated.predict(row); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("at %v: %g with weights, %g with repeated rows", row, got, want)
		}
	}
}
