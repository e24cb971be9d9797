package online

import (
	"slices"
	"testing"
)

func TestDrawable(t *testing.T) {
	tests := []struct {
		name    string
		weights []float64
		calls   float64
		want    []float64
	}{
		{"enough calls", []float64{0, 1, 3, 2}, 6, []float64{0, 1, 3, 2}},
		{"too few", []float64{0, 1, 3, 2}, 5, []float64{0, 0.001, 3, 2}},
		{"next to none", []float64{0, 1, 3, 2}, 1, []float64{0, 0.001, 3, 0.002}},
		{"nobody knows how many", []float64{0, 1, 3, 2}, 0, []float64{0, 1, 3, 2}},
		{"what is selected has its part of them", []float64{6, 1, 3, 2}, 10, []float64{6, 0.001, 3, 2}},
		{"nothing to explore", []float64{0, 0, 0, 0}, 10, []float64{1, 0, 0, 0}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := drawable(tc.weights, 0, tc.calls); !slices.Equal(got, tc.want) {
				t.Errorf("weights %v, want %v", got, tc.want)
			}
		})
	}
}
