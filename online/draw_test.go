package online

import (
	"math"
	"testing"
)

func TestWeights(t *testing.T) {
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
			got := weights(tc.seconds, leastChance, mostChance)
			for i := range got {
				if math.Abs(got[i]-tc.want[i]) > 1e-12 {
					t.Fatalf("weights %v, want %v", got, tc.want)
				}
			}
		})
	}
}

// The example of the thesis, table 4.2: 0.645 picks the fourth of six.
func TestPrefixSums(t *testing.T) {
	w := []float64{0.3, 0.2, 0.1, 0.1, 0.2, 0.1}
	prefix(w)
	for u, want := range map[float64]int{0.645: 3, 1e-9: 0, 0.3: 0, 0.31: 1, 1 - 1e-12: 5} {
		if got := drawn(w, u); got != want {
			t.Errorf("%g picks %d, want %d", u, got, want)
		}
	}
}

func TestDrawsAreUniformAndIndependent(t *testing.T) {
	const n = 100_000
	sum, square, cross, z, zz := 0.0, 0.0, 0.0, 0.0, 0.0
	for i := range uint64(n) {
		u, next := uniform(1, 2, i), uniform(1, 2, i+1)
		sum += u
		square += u * u
		cross += (u - 0.5) * (next - 0.5)
		x := normal(3, i)
		z += x
		zz += x * x
	}
	for name, v := range map[string][2]float64{
		"mean": {sum / n, 0.5}, "mean of squares": {square / n, 1.0 / 3}, "covariance with the next": {cross / n, 0},
		"normal mean": {z / n, 0}, "normal variance": {zz / n, 1},
	} {
		if math.Abs(v[0]-v[1]) > 5/math.Sqrt(n) {
			t.Errorf("%s: %g, want %g", name, v[0], v[1])
		}
	}
	if hash(1, 2) == hash(2, 1) || hash(0) == hash(0, 0) {
		t.Error("order and number of keys do not matter")
	}
}
