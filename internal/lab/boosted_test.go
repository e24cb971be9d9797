package lab

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"tutti/internal/testutil"
)

func TestIOTAWeights(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		name    string
		seconds []float64
		want    []float64
	}{
		{"one over time", []float64{1, 2, 2}, []float64{0.5, 0.25, 0.25}},
		{"the fastest has half at most", []float64{1, 9}, []float64{0.5 / 0.6, 0.1 / 0.6}},
		{"the slowest has 3 % at least", []float64{1, 1, 98}, []float64{98.0 / 197 / (196.0/197 + 0.03), 98.0 / 197 / (196.0/197 + 0.03), 0.03 / (196.0/197 + 0.03)}},
		{"unknown has the mean", []float64{1, nan, 1}, []float64{1.0 / 3, 1.0 / 3, 1.0 / 3}},
		{"nothing known", []float64{nan, nan}, []float64{0.5, 0.5}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := IOTAWeights(tc.seconds)
			for i := range got {
				if math.Abs(got[i]-tc.want[i]) > 1e-12 {
					t.Fatalf("weights %v, want %v", got, tc.want)
				}
			}
		})
	}
}

// TestBoostedMatchesXGBoost compares predictions with those of XGBoost, which testdata/boosted.py recorded.
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
