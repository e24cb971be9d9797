package metrics

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// bySigns computes the p-value of SignedRank by trying all combinations of signs.
func bySigns(values []float64) float64 {
	values = slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return v == 0 })
	rank := func(v float64) float64 {
		below, same := 0, 0
		for _, o := range values {
			if math.Abs(o) < math.Abs(v) {
				below++
			} else if math.Abs(o) == math.Abs(v) {
				same++
			}
		}
		return float64(below) + float64(same+1)/2
	}
	seen := 0.0
	for _, v := range values {
		if v > 0 {
			seen += rank(v)
		}
	}
	as := 0
	for signs := range 1 << len(values) {
		sum := 0.0
		for i, v := range values {
			if signs>>i&1 == 1 {
				sum += rank(v)
			}
		}
		if sum >= seen-1e-9 {
			as++
		}
	}
	return float64(as) / float64(int(1)<<len(values))
}

// TestSignedRankInterval checks that the interval contains what the test does not reject.
func TestSignedRankInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		values := make([]float64, 6+rng.IntN(15))
		for i := range values {
			values[i] = rng.NormFloat64()
		}
		const tail = 0.02
		center, i, err := SignedRankInterval(values, tail)
		if err != nil || !(i.Low < center && center < i.High) {
			t.Fatalf("center %g, interval %+v, %v", center, i, err)
		}
		for _, tc := range []struct {
			shift    float64
			rejected bool
		}{{i.Low - 1e-9, true}, {i.Low + 1e-9, false}} {
			shifted := make([]float64, len(values))
			for k, v := range values {
				shifted[k] = v - tc.shift
			}
			if got := SignedRank(shifted) <= tail; got != tc.rejected {
				t.Errorf("%d values, lower end %g: a center of %g is rejected: %t", len(values), i.Low, tc.shift, got)
			}
		}
	}
	if _, i, _ := SignedRankInterval([]float64{1, 2, 3, 4, 5}, 0.03); !math.IsInf(i.Low, -1) || !math.IsInf(i.High, 1) {
		t.Errorf("five values: %+v, want no ends", i)
	}
	if _, _, err := SignedRankInterval(nil, 0.1); !errors.Is(err, ErrEmpty) {
		t.Errorf("no values: %v", err)
	}
}

func TestSignedRank(t *testing.T) {
	for _, tc := range []struct {
		name   string
		values []float64
		want   float64
	}{
		{"none", nil, 1},
		{"zeros alone", []float64{0, 0}, 1},
		{"one above", []float64{3}, 0.5},
		{"all above", []float64{1, 2, 3, 4, 5}, 1. / 32},
		{"all above and alike", []float64{2, 2, 2, 2, 2, 2}, 1. / 64},
		{"all below", []float64{-1, -2, -3}, 1},
		{"the smallest below", []float64{-1, 2, 3, 4, 5}, 2. / 32},
	} {
		if got := SignedRank(tc.values); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", tc.name, got, tc.want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		values := make([]float64, 1+rng.IntN(10))
		for i := range values {
			values[i] = float64(rng.IntN(9) - 3) // includes zeros and ties
		}
		if got, want := SignedRank(values), bySigns(values); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v: %g, want %g", values, got, want)
		}
	}
}

func TestHolm(t *testing.T) {
	for _, tc := range []struct {
		name  string
		p     []float64
		alpha float64
		want  []bool
	}{
		{"none", nil, 0.05, []bool{}},
		{"one", []float64{0.05}, 0.05, []bool{true}},
		{"steps down", []float64{0.02, 0.01, 0.05}, 0.05, []bool{true, true, true}},
		{"stops at the first", []float64{0.02, 0.03, 0.001}, 0.05, []bool{true, true, true}},
		{"what stops it stops the rest", []float64{0.001, 0.03, 0.04}, 0.05, []bool{true, false, false}},
	} {
		if got := Holm(tc.p, tc.alpha); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}
