package verify

import (
	"math"
	"testing"
)

// TestConfirmationBlocks checks that a confirmation has enough blocks. With fewer blocks its statistical test could
// not reach the significance level, whatever the times are.
func TestConfirmationBlocks(t *testing.T) {
	r := DefaultRules()
	for pass := 1; pass <= 12; pass++ {
		for _, suspects := range []int{1, 7, 300} {
			n := r.confirmationBlocks(pass, suspects, nil)
			if least := math.Pow(0.5, float64(n)); least > r.levelOf(pass)/float64(suspects)/4 {
				t.Errorf("pass %d, %d suspects: %d blocks cannot reject", pass, suspects, n)
			}
		}
	}
	if a, b := r.confirmationBlocks(1, 1, []float64{0, 0.01, 0.02, 0.01}), r.confirmationBlocks(1, 1, []float64{0, 0.2, 0.1, 0.3}); a >= b || b != 2*r.MaxBlocks {
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

func TestIntervalOf(t *testing.T) {
	if got, want := intervalOf([]float64{3, 1, 2}), (Interval{2, 1, 3}); got != want {
		t.Errorf("of three: %v, want %v", got, want)
	}
	if got := intervalOf([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}); got.Value != 5 || got.Low != 2.5 || got.High != 7.5 {
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
