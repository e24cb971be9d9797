package main

import (
	"bytes"
	"testing"
	"time"

	"tutti/verify"
)

// TestVerifyProgress checks that the remaining time is printed, beginning with the second block, and that the time before
// the first block does not count.
func TestVerifyProgress(t *testing.T) {
	var out bytes.Buffer
	began := time.Unix(0, 0)
	now := began
	p := &verifyProgress{out: &out, now: func() time.Time { return now }}
	at := verify.Event{Library: "mpich", Pass: 1, Stage: verify.Screening, Block: 1, MinBlocks: 3, MaxBlocks: 5, Points: 10}
	p.observe(at)
	now = began.Add(20 * time.Second)
	at.Block = 2
	p.observe(at)
	now = began.Add(40 * time.Second)
	at.Block, at.Points = 4, 1
	p.observe(at)
	now = began.Add(42 * time.Second)
	p.observe(verify.Event{Library: "mpich", Pass: 1, Stage: verify.Confirmation, Block: 1, MinBlocks: 3, MaxBlocks: 8, Points: 3})
	want := `mpich: pass 1, first test, block 1 of at most 5: 10 points
mpich: pass 1, first test, block 2 of at most 5: 10 points, about 46 s left
mpich: pass 1, first test, block 4 of at most 5: 1 point, about 4 s left
mpich: pass 1, second test, block 1 of at most 8: 3 points, about 48 s left
`
	if got := out.String(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}
