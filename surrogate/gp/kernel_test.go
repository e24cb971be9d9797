package gp

import (
	"math"
	"testing"
)

func TestDecay(t *testing.T) {
	worst := 0.0
	for x := 0.0; x < decayMax; x += 0.00137 * (1 + x/7) {
		want := math.Exp(-x)
		worst = max(worst, math.Abs(decay(x)-want)/want)
	}
	if worst > 5e-16 {
		t.Errorf("decay is off by %g, want 5e-16 at most", worst)
	}
	if got := decay(0); got != 1 {
		t.Errorf("decay(0) = %g, want exactly 1", got)
	}
	for _, x := range []float64{800, math.Inf(1)} {
		if got := decay(x); got != 0 {
			t.Errorf("decay(%g) = %g, want 0", x, got)
		}
	}
	if got := decay(math.NaN()); !math.IsNaN(got) {
		t.Errorf("decay(NaN) = %g, want NaN", got)
	}
}

func BenchmarkDecay(b *testing.B) {
	sum := 0.0
	for i := 0; b.Loop(); i++ {
		sum += decay(float64(i&1023) * 0.01)
	}
	if !(sum > 0) {
		b.Fatal("nothing summed")
	}
}
