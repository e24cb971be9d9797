package clustering_test

import (
	"math"
	"testing"

	"tutti/internal/lab/clustering"
	"tutti/topology/discover"
)

func TestAccuracy(t *testing.T) {
	truth := discover.Labels{0, 0, 0, 1, 1, 1}
	for _, tc := range []struct {
		labels discover.Labels
		want   float64
	}{
		{discover.Labels{0, 0, 0, 1, 1, 1}, 1},
		{discover.Labels{1, 1, 1, 0, 0, 0}, 1},
		{discover.Labels{0, 0, 1, 1, 1, 1}, 5.0 / 6},
		{discover.Labels{0, 0, 0, 0, 0, 0}, 0.5},
		{discover.Labels{0, 1, 2, 3, 4, 5}, 2.0 / 6},
		{discover.Labels{0, 0, discover.NoGroup, 1, 1, 1}, 5.0 / 6},
		{discover.Labels{-1, -1, -1, -1, -1, -1}, 0},
	} {
		if got := clustering.Accuracy(tc.labels, truth); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%v: %g, want %g", tc.labels, got, tc.want)
		}
	}
}
