package discover_test

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tutti/csource"
	"tutti/internal/testutil"
	"tutti/topology/discover"
)

// TestLive runs the benchmark program on one node, with every installed MPI library. Every pass (measurement
// of all pairs) must measure every pair of ranks once.
func TestLive(t *testing.T) {
	host := testutil.Must(os.Hostname())(t)
	for _, tc := range []testutil.Toolchain{testutil.MPICH, testutil.OpenMPI} {
		t.Run(tc.Compiler, func(t *testing.T) {
			if tc.Compiler == "mpicc.mpich" { // one library suffices
				testutil.NeedAllCases(t)
			}
			prog := testutil.BuildProgram(t, tc, csource.Bench)
			run := func(text []byte) (discover.Measurements, error) {
				plan := filepath.Join(t.TempDir(), "plan")
				testutil.NoError(t, os.WriteFile(plan, text, 0o666))
				return discover.ReadOutput(strings.SplitSeq(testutil.RunProgram(t, nil, tc.Launcher, "-n", "3", prog, plan), "\n"))
			}
			p := discover.Plan{Nodes: 1, PPN: 3, Bytes: 16, Repetitions: 10, Passes: 2, Precision: 0.05, Seconds: 60, Inside: true, Rounds: discover.AllRounds}
			r := testutil.Must(run(p.Text()))(t)
			checkLive(t, r)
			p.PPN = 2
			if _, err := run(p.Text()); err == nil || !strings.Contains(err.Error(), "the world is 3 ranks on 1 nodes (3), the plan wants 1 nodes of 2") {
				t.Errorf("another world than planned: %v", err)
			}
			if _, err := run([]byte("tutti-pairs-plan 1\nnodes 1\nnodes 1\nend\n")); err == nil || !strings.Contains(err.Error(), `plan:3: "nodes 1": want a statement`) {
				t.Errorf("a setting twice: %v", err)
			}
			p.PPN, p.Inside, p.Bytes, p.Precision, p.Seconds = 3, false, 128, 1e-9, 2
			p.Classes = []discover.Class{{Name: "node", Pairs: []discover.Measurement{{A: discover.Endpoint{Host: host, Rank: 1}, B: discover.Endpoint{Host: host, Rank: 2}}}}}
			r = testutil.Must(run(p.Text()))(t)
			checkExample(t, r, p)
		})
	}
}

func checkLive(t *testing.T, r discover.Measurements) {
	t.Helper()
	times := map[[3]int]int{}
	for _, p := range r.PairsOf(discover.Inside) {
		times[[3]int{p.Pass, p.A.Rank, p.B.Rank}]++
	}
	for pass := range 2 {
		for _, pair := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
			if n := times[[3]int{pass, pair[0], pair[1]}]; n != 1 {
				t.Errorf("pass %d: ranks %v were measured %d times, want once", pass, pair, n)
			}
		}
	}
	if len(r.Pairs) != 6 || !r.Ended || r.Damaged != 0 || len(r.Hosts) != 1 {
		t.Errorf("%d pairs on %v, damaged %d, ended %t: want 6 on one host", len(r.Pairs), r.Hosts, r.Damaged, r.Ended)
	}
}

// checkExample checks the message sizes in r.Examples (measurements of one pair) and their order. Empty
// messages come first, then powers of two, then extra sizes. On a busy machine, the last sizes may be missing.
func checkExample(t *testing.T, r discover.Measurements, p discover.Plan) {
	t.Helper()
	var got, want []int
	var readings []discover.SizeTimes
	for _, e := range r.Examples {
		got = append(got, e.Bytes)
		if e.Bytes > 0 {
			readings = append(readings, e.SizeTimes)
		}
	}
	next := []int{0}
	for bytes := 1; bytes <= p.Bytes; bytes *= 2 {
		next = append(next, bytes)
	}
	for ; len(next) > 0; next = extraSizes(readings[:len(want)-1], p.Precision) {
		if want = append(want, next...); len(want) >= len(got) {
			break
		}
	}
	if !slices.Equal(got, want) || !r.Ended {
		t.Errorf("sizes %v, ended %t; want %v", got, r.Ended, want)
	}
	t.Logf("sizes %v", got)
}

// extraSizes returns further message sizes at which the benchmark should measure. It looks for times that deviate
// by more than `tolerance` from the straight line between the times of the neighbouring sizes. It adds the middle
// between such a size and the next one, unless the two are at most 32 bytes apart.
func extraSizes(readings []discover.SizeTimes, tolerance float64) (sizes []int) {
	sorted := slices.SortedFunc(slices.Values(readings), func(a, b discover.SizeTimes) int { return cmp.Compare(a.Bytes, b.Bytes) })
	for i := 1; i+1 < len(sorted); i++ {
		before, here, next := sorted[i-1], sorted[i], sorted[i+1]
		share := float64(here.Bytes-before.Bytes) / float64(next.Bytes-before.Bytes)
		bent := func(a, b, c float64) bool { return math.Abs(b-(a+share*(c-a))) > tolerance*b }
		if next.Bytes-here.Bytes > 32 && (bent(before.RoundTrip, here.RoundTrip, next.RoundTrip) ||
			bent(before.Send, here.Send, next.Send) || bent(before.Receive, here.Receive, next.Receive)) {
			sizes = append(sizes, here.Bytes+(next.Bytes-here.Bytes)/2)
		}
	}
	return sizes
}
