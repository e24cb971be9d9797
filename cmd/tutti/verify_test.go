package main

import (
	"bytes"
	"testing"
	"time"

	"tutti/verify"
)

// TestVerifyProgress checks the lines, and that the time before the first block of a test does not count.
func TestVerifyProgress(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	p := &verifyProgress{out: &out, now: func() time.Time { return now }}
	p.observe(verify.Event{Library: "mpich", Pass: 1, Stage: verify.Screening, Block: 1, MaxBlocks: 5, Points: 10, Cost: 16, Ahead: 48})
	now = now.Add(20 * time.Second)
	p.observe(verify.Event{Library: "mpich", Pass: 1, Stage: verify.Screening, Block: 2, MaxBlocks: 5, Points: 10, Cost: 16, Ahead: 32})
	now = now.Add(time.Hour) // fits models between two tests
	p.observe(verify.Event{Library: "mpich", Pass: 1, Stage: verify.Confirmation, Block: 1, MaxBlocks: 8, Points: 1, Cost: 7, Ahead: 56})
	want := `mpich: pass 1, first test, block 1 of at most 5: 10 points
mpich: pass 1, first test, block 2 of at most 5: 10 points, about 40 s left in this pass
mpich: pass 1, second test, block 1 of at most 8: 1 point, about 70 s left in this pass
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
