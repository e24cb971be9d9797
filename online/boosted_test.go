package online

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"tutti/internal/testutil"
)

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
