package doctor

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// world returns what the probe prints for one MPI_COMM_WORLD.
func world(ranks string, size, sum int) string {
	var b strings.Builder
	for _, r := range strings.Fields(ranks) {
		b.WriteString("tutti-doctor: rank " + r + " of " + string(rune('0'+size)) + " sum " + string(rune('0'+sum)) + " on n1\n")
	}
	return b.String()
}

const bothEnded = "tutti-doctor: rank 0 ended\ntutti-doctor: rank 1 ended\n"

func TestPairing(t *testing.T) {
	failed := errors.New("exit status 1")
	tests := []struct {
		name    string
		run     result
		state   State
		oneRank bool
		text    string // expected part
	}{
		{"two processes", result{Stdout: world("1 0", 2, 3) + bothEnded}, OK, false, "two processes, one world"},
		{"behind tags", result{Stdout: "[1,0]<stdout>:" + world("0", 2, 3) + "[1,1]<stdout>:" + world("1", 2, 3)}, OK, false, "two processes"},
		{"one-rank worlds", result{Stdout: world("0", 1, 1) + world("0", 1, 1)}, Missing, true, "2 worlds of one process instead of one world of 2"},
		{"one process alone", result{Stdout: world("0", 1, 1)}, Missing, true, "1 world of one process"},
		{"one-rank worlds that fail", result{Stdout: world("0", 1, 1), Err: failed, Code: 1}, Missing, true, "1 world of one"},
		{"three processes", result{Stdout: world("0 1 2", 3, 6)}, Missing, false, "does not start two processes"},
		{"one is silent", result{Stdout: world("0", 2, 3)}, Missing, false, "does not start two processes"},
		{"the same one twice", result{Stdout: world("0 0", 2, 3)}, Missing, false, "does not start two processes"},
		{"they do not talk", result{Stdout: world("0 1", 2, 1)}, Missing, false, "sum is wrong"},
		{"refused", result{Stderr: "starting\nsrun: error: Invalid MPI type 'pmix'\n", Err: failed, Code: 1}, Missing, false, "error: Invalid MPI type"},
		{"nothing at all", result{}, Missing, false, "does not start two processes"},
		{"garbage", result{Stdout: "\xff\x00\x1b[2Jtutti-doctor: rank"}, Missing, false, "does not start two processes"},
		{"hangs", result{TimedOut: true, Err: failed, Took: 20 * time.Second}, Missing, false, "no end within 20s"},
		{"hangs and complains", result{TimedOut: true, Err: failed, Took: time.Second, Stderr: "error: no route\n"}, Missing, false, "no end within 1s: error: no route"},
		{"hangs at the end", result{Stdout: world("0 1", 2, 3), TimedOut: true, Err: failed}, Missing, false, "MPI_Finalize hung"},
		{"ends badly", result{Stdout: world("0 1", 2, 3) + bothEnded, Err: failed, Code: 139}, Warning, false, "ended with 139"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			v := pairingOf(tc.run)
			if v.State != tc.state || v.OneRank != tc.oneRank || !strings.Contains(v.Text, tc.text) {
				t.Errorf("pairingOf = %s, one rank %v, %q, want %s, %v, ...%s...", v.State, v.OneRank, v.Text, tc.state, tc.oneRank, tc.text)
			}
		})
	}
}
