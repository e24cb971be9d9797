package main

import (
	"bytes"
	"testing"
	"time"

	"tutti/verify"
)

// TestVerifyProgress: from the second block on it is told how long the look may take.
func TestVerifyProgress(t *testing.T) {
	var out bytes.Buffer
	began := time.Unix(0, 0)
	now := began
	p := &verifyProgress{out: &out, began: began, now: func() time.Time { return now }}
	at := verify.Event{Library: "mpich", Pass: 1, Look: verify.FirstLook, Block: 1, Most: 4, Spots: 10}
	p.observe(at)
	now = began.Add(20 * time.Second)
	at.Block, at.Spots = 2, 5
	p.observe(at)
	now = began.Add(30 * time.Second)
	p.observe(verify.Event{Library: "mpich", Pass: 1, Look: verify.SecondLook, Block: 1, Most: 8, Spots: 3})
	want := `mpich: pass 1, first look, block 1 of 4 at most: 10 points
mpich: pass 1, first look, block 2 of 4 at most: 5 points, 20s so far, this look up to 30s more
mpich: pass 1, second look, block 1 of 8 at most: 3 points, 30s so far, this look up to 48s more
`
	if got := out.String(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}
