package verify

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// bySigns counts the sign patterns whose positive ranks weigh as much, one by one.
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
		if got := signedRank(tc.values); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", tc.name, got, tc.want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		values := make([]float64, 1+rng.IntN(10))
		for i := range values {
			values[i] = float64(rng.IntN(9) - 3) // zeros and ties among them
		}
		if got, want := signedRank(values), bySigns(values); math.Abs(got-want) > 1e-12 {
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
		if got := holm(tc.p, tc.alpha); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// A look must be long enough for the test to reject at the level it is held to.
func TestSecondBlocks(t *testing.T) {
	r := DefaultRules()
	for pass := 1; pass <= 12; pass++ {
		for _, suspects := range []int{1, 7, 300} {
			n := r.secondBlocks(pass, suspects, 0)
			if least := math.Pow(0.5, float64(n)); least > r.alphaOf(pass)/float64(suspects)/4 {
				t.Errorf("pass %d, %d suspects: %d blocks cannot reject", pass, suspects, n)
			}
		}
	}
	if a, b := r.secondBlocks(1, 1, 0.01), r.secondBlocks(1, 1, 0.1); a >= b || b != 2*r.MaxBlocks {
		t.Errorf("%d blocks for little noise, %d for much", a, b)
	}
	total := 0.0
	for pass := range 10000 {
		total += r.alphaOf(pass + 1)
	}
	if total > r.Alpha {
		t.Errorf("all passes spend %g, want %g at most", total, r.Alpha)
	}
}

func TestMedianOf(t *testing.T) {
	if got, want := medianOf([]float64{3, 1, 2}), (Interval{2, 1, 3}); got != want {
		t.Errorf("of three: %v, want %v", got, want)
	}
	if got := medianOf([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}); got.Value != 5 || got.Low != 2 || got.High != 8 {
		t.Errorf("of nine: %v", got)
	}
}

func TestRulesFaults(t *testing.T) {
	if err := DefaultRules().Validate(); err != nil {
		t.Errorf("the default rules: %v", err)
	}
	for name, spoil := range map[string]func(*Rules){
		"tolerance": func(r *Rules) { r.Tolerance = -1 }, "alpha": func(r *Rules) { r.Alpha = 0 },
		"detect": func(r *Rules) { r.Detect = r.Tolerance }, "blocks": func(r *Rules) { r.MaxBlocks = 1 },
		"no number": func(r *Rules) { r.Tolerance = math.NaN() }, "passes": func(r *Rules) { r.Passes = 0 },
	} {
		r := DefaultRules()
		if spoil(&r); r.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
