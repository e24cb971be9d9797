package online

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"testing"

	"tutti/internal/testutil"
)

// TestLiveDetector: the library's detector has the same sums as that of this package, but for
// the last bits, and raises the same alarms.
func TestLiveDetector(t *testing.T) {
	program := testutil.BuildWithRuntime(t, "detected")
	const run = 10_000 * 64
	d := NewDetector(run)
	rng := rand.New(rand.NewPCG(3, 0))
	var in bytes.Buffer
	type step struct {
		up, down float64
		alarm    int
	}
	var want []step
	alarms := 0
	for i := range 4000 {
		seconds := 1e-5 * math.Exp(0.1*rng.NormFloat64())
		if i/250%2 == 1 {
			seconds *= []float64{2, 0.5, 1.3, 1}[i/500%4]
		}
		if i%97 == 0 {
			seconds *= 50 // an outlier is no change
		}
		fmt.Fprintf(&in, "%.17g\n", seconds)
		_, alarm := d.Add(seconds)
		s := step{up: d.up.value, down: d.down.value}
		if alarm {
			s.alarm = 1
			alarms++
		}
		want = append(want, s)
	}
	cmd := exec.Command(program, fmt.Sprint(run))
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := bytes.NewReader(out)
	for i, w := range want {
		var g step
		if _, err := fmt.Fscan(got, &g.up, &g.down, &g.alarm); err != nil {
			t.Fatalf("after %d answers: %v", i, err)
		}
		if math.Abs(g.up-w.up) > 1e-9 || math.Abs(g.down-w.down) > 1e-9 || g.alarm != w.alarm {
			t.Fatalf("time %d: sums and alarm %v, want %v", i, g, w)
		}
	}
	if alarms < 8 {
		t.Errorf("%d alarms in 16 stretches that differ", alarms)
	}
}
