package online_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tutti/online"
)

// times are lognormal around a second, with 10 % noise, times factor from call from on.
func times(seed uint64, n, from int, factor float64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Exp(0.1 * rng.NormFloat64())
		if i >= from {
			out[i] *= factor
		}
	}
	return out
}

// A false alarm once in ten thousand calls is wanted; the target is one in a thousand.
func TestDetectorIsQuiet(t *testing.T) {
	const calls, seeds = 5000, 20
	alarms := 0
	for seed := range uint64(seeds) {
		d := online.NewDetector(10_000)
		for _, s := range times(seed, calls, calls, 1) {
			if _, alarm := d.Add(s); alarm {
				alarms++
			}
		}
	}
	t.Logf("%d false alarms in %d calls", alarms, calls*seeds)
	if alarms > calls*seeds/5000 {
		t.Errorf("%d false alarms in %d calls, want one in 10000", alarms, calls*seeds)
	}
}

// The load changes for better or worse at calls 250, 400, 550 and 700: each is found within
// 20 calls.
func TestDetectorFindsChanges(t *testing.T) {
	const seeds, most = 20, 20
	for _, factor := range []float64{2, 0.5, 1.5} {
		missed, all, late := 0, 0, 0
		for seed := range uint64(seeds) {
			d := online.NewDetector(10_000)
			s := times(seed, 850, 850, 1)
			for i := range s {
				if i >= 250 && i < 400 || i >= 550 && i < 700 {
					s[i] *= factor
				}
			}
			at := -1
			for i := range s {
				if i == 250 || i == 400 || i == 550 || i == 700 {
					if at >= 0 {
						missed++
					}
					at = i
					all++
				}
				if _, alarm := d.Add(s[i]); alarm && at >= 0 {
					late = max(late, i-at+1)
					if i-at >= most {
						missed++
					}
					at = -1
				}
			}
			if at >= 0 {
				missed++
			}
		}
		t.Logf("factor %g: %d of %d missed, the others within %d calls", factor, missed, all, late)
		if missed*20 > all {
			t.Errorf("factor %g: %d of %d changes missed, want 5 %% at most", factor, missed, all)
		}
	}
}

// What an alarm says of the times since the change.
func TestDetectorTellsTheChange(t *testing.T) {
	d := online.NewDetector(10_000)
	for i, s := range times(3, 300, 200, 2) {
		c, alarm := d.Add(s)
		if !alarm {
			continue
		}
		if i < 200 {
			t.Fatalf("alarm at call %d, before the change", i)
		}
		if c.Calls > i-200+3 || math.Abs(c.Seconds/2-1) > 0.25 {
			t.Errorf("%d calls of %g s at call %d, want those since call 200 with 2 s", c.Calls, c.Seconds, i)
		}
		return
	}
	t.Error("no alarm")
}

// One outlier is no change, nor are times that do not vary at all.
func TestDetectorForgives(t *testing.T) {
	for name, s := range map[string][]float64{
		"one outlier": append(append(times(1, 100, 100, 1), 30), times(2, 100, 100, 1)...),
		"constant":    make([]float64, 500),
	} {
		d := online.NewDetector(10_000)
		for i, v := range s {
			if v == 0 {
				v = 1e-6
			}
			if _, alarm := d.Add(v); alarm {
				t.Errorf("%s: alarm at call %d", name, i)
			}
		}
	}
}

func ExampleDetector() {
	d := online.NewDetector(10_000)
	for i := range 100 {
		seconds := 1e-5 * (1 + 0.02*float64(i%2))
		if i >= 60 {
			seconds *= 2
		}
		if change, alarm := d.Add(seconds); alarm {
			fmt.Printf("call %d: %d calls of %.0f µs\n", i, change.Calls, 1e6*change.Seconds)
		}
	}
	// Output: call 63: 5 calls of 20 µs
}
