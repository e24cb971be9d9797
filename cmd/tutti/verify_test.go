package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"tutti/verify"
)

// TestVerifyProgress checks the remaining time, from the second block on, against recorded verifications: of 7 points by
// launches that take most of the time, and of 182 points of recorded data. It must be right within a factor of two.
func TestVerifyProgress(t *testing.T) {
	for name, tc := range map[string]struct {
		points  int       // of the first blocks; later ones have fewer
		later   int       // points of later blocks
		seconds []float64 // of each block
	}{
		"launches": {7, 1, []float64{50.3, 47, 40.9, 34.7, 35.6, 46.6, 31.1, 25.9, 24.5, 20.6, 35.3, 30}},
		"recorded": {182, 21, []float64{35, 26, 22, 30, 35, 30, 5, 4, 2, 3, 3, 3}},
	} {
		var out bytes.Buffer
		now := time.Unix(0, 0)
		p := &verifyProgress{out: &out, now: func() time.Time { return now }}
		for i, took := range tc.seconds {
			e := verify.Event{Library: "mpich", Pass: 1, Stage: verify.Screening, Block: i + 1, MinBlocks: 6, MaxBlocks: 20, Points: tc.points}
			if i >= 6 {
				e.Points = tc.later
			}
			p.observe(e)
			left := 0.0
			for _, s := range tc.seconds[i:] {
				left += s
			}
			if i > 0 {
				if got := p.left(e); got > 2*left || got < left/2 {
					t.Errorf("%s, block %d: %.0f s left, in fact %.0f", name, i+1, got, left)
				}
			}
			now = now.Add(time.Duration(took * float64(time.Second)))
		}
		if lines := strings.Count(out.String(), " left\n"); lines != len(tc.seconds)-1 {
			t.Errorf("%s: %d lines with a time left:\n%s", name, lines, out.String())
		}
	}
}

// TestVerifyProgressLines checks the lines, and that the time before the first block of a test does not count.
func TestVerifyProgressLines(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	p := &verifyProgress{out: &out, now: func() time.Time { return now }}
	p.observe(verify.Event{Library: "mpich", Pass: 1, Stage: verify.Screening, Block: 1, MinBlocks: 3, MaxBlocks: 5, Points: 10})
	now = now.Add(20 * time.Second)
	p.observe(verify.Event{Library: "mpich", Pass: 1, Stage: verify.Screening, Block: 2, MinBlocks: 3, MaxBlocks: 5, Points: 10})
	now = now.Add(time.Hour) // fits models between two tests
	p.observe(verify.Event{Library: "mpich", Pass: 1, Stage: verify.Confirmation, Block: 1, MinBlocks: 3, MaxBlocks: 8, Points: 1})
	want := `mpich: pass 1, first test, block 1 of at most 5: 10 points
mpich: pass 1, first test, block 2 of at most 5: 10 points, about 56 s left
mpich: pass 1, second test, block 1 of at most 8: 1 point, about 70 s left
`
	if got := out.String(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

// TestVerifyAgain checks that the command that goes on with a verification has its rules and limits.
func TestVerifyAgain(t *testing.T) {
	o := verifyOptions{set: []string{"points=20"}, library: "mpich", machineTime: 2 * time.Hour, compilers: []string{"mpich=/opt/my mpi/mpicc"}, restart: true, yes: true}
	const want = "tutti verify out --set points=20 --library mpich --machine-time 2h --mpicc 'mpich=/opt/my mpi/mpicc'"
	if got := o.again("out"); got != want {
		t.Errorf("again: %s, want %s", got, want)
	}
	if got := (&verifyOptions{}).again("out"); got != "tutti verify out" {
		t.Errorf("again: %s", got)
	}
}
