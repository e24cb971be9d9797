package store_test

import (
	"testing"

	"tutti/store"
)

// What checks lost on average is the least that upper ends are.
func TestUpperEnds(t *testing.T) {
	for _, tc := range []struct {
		e                  store.Evaluation
		slowdown, mistakes float64
	}{
		{store.Evaluation{SlowdownUpper: 1.02, MistakesUpper: 0.04}, 1.02, 0.04},
		{store.Evaluation{SlowdownUpper: 1.02, MistakesUpper: 0.04, Checks: 8, CheckLoss: 0.5, CheckMistakes: 1}, 1.0625, 0.125},
		{store.Evaluation{SlowdownUpper: 1.02, MistakesUpper: 0.04, Checks: 100, CheckLoss: 0.5, CheckMistakes: 1}, 1.02, 0.04},
	} {
		if slowdown, mistakes := tc.e.UpperEnds(); slowdown != tc.slowdown || mistakes != tc.mistakes {
			t.Errorf("%+v: %g and %g, want %g and %g", tc.e, slowdown, mistakes, tc.slowdown, tc.mistakes)
		}
	}
}
