package main

import (
	"bytes"
	"testing"
	"time"

	"tutti/verify"
)

// TestVerifyProgress checks that the remaining time is printed, beginning with the second block.
func TestVerifyProgress(t *testing.T) {
	var out bytes.Buffer
	began := time.Unix(0, 0)
	now := began
	p := &verifyProgress{out: &out, began: began, now: func() time.Time { return now }}
	at := verify.Event{Library: "mpich", Pass: 1, Stage: verify.Screening, Block: 1, MaxBlocks: 4, Points: 10}
	p.observe(at)
	now = began.Add(20 * time.Second)
	at.Block, at.Points = 2, 5
	p.observe(at)
	now = began.Add(30 * time.Second)
	p.observe(verify.Event{Library: "mpich", Pass: 1, Stage: verify.Confirmation, Block: 1, MaxBlocks: 8, Points: 3})
	want := `mpich: pass 1, first test, block 1 of at most 4: 10 points
mpich: pass 1, first test, block 2 of at most 4: 5 points, 20s so far, this test up to 30s more
mpich: pass 1, second test, block 1 of at most 8: 3 points, 30s so far, this test up to 48s more
`
	if got := out.String(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}
