package activelearn

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"tutti/coll"
	"tutti/internal/testutil"
)

// million returns a ledger whose space has a million candidates, with up to 4096 nodes of 256 processes
// each. A thousand candidates are measured.
func million(t testing.TB) *Ledger {
	t.Helper()
	g := coll.Grid{}
	for n := 1; n <= 4096; n += 1 + n/8 {
		g.Nodes = append(g.Nodes, n)
	}
	for ppn := 1; ppn <= 256; ppn += 1 + ppn/4 {
		g.PPN = append(g.PPN, ppn)
	}
	for size := int64(1); len(g.Sizes) < 100; size += 1 + size/6 {
		g.Sizes = append(g.Sizes, size)
	}
	points := testutil.Must(g.Points(coll.Bcast))(t)
	var algorithms []coll.Algorithm
	for k := range 10 {
		a := testutil.Must(coll.NewAlgorithm("algorithm", coll.Param{Name: "k", Value: fmt.Sprint(k)}))(t)
		algorithms = append(algorithms, a)
	}
	l := NewLedger(coll.NewSpace(points, algorithms, func(coll.Candidate) error { return nil }))
	for i := range 1000 {
		wide(t, l, l.Space().At(i * 7919 % len(l.Space().Points()))[i%10])
	}
	return l
}

// wide records a synthetic measurement of a candidate in the ledger that the function `million` returns.
func wide(t testing.TB, l *Ledger, c coll.Candidate) {
	t.Helper()
	testutil.NoError(t, l.Pend(c))
	k, _ := c.Algorithm.Param("k")
	seconds := 1e-6 * (1 + float64(c.MsgBytes)/1e3*(1+0.1*math.Sin(float64(k[0])+math.Log2(float64(c.Nodes)))))
	m := coll.Measurement{Candidate: c, Seconds: seconds, CostSeconds: 1000 * seconds}
	testutil.NoError(t, l.Record(coll.Trial{Measurement: m, State: coll.TrialDone}))
}

// cpuSeconds returns the processor time that this process has used. Unlike wall time, it hardly depends on
// other work on the machine.
func cpuSeconds(t testing.TB) float64 {
	var used syscall.Rusage
	testutil.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return float64(used.Utime.Nano()+used.Stime.Nano()) * 1e-9
}

// TestMillion checks that the space and the ledger of a million candidates fit into a gigabyte. A round of
// 50 candidates takes about one second of processor time. The test allows three seconds, for slower
// machines.
func TestMillion(t *testing.T) {
	testutil.SkipShort(t)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
	began := time.Now()
	l := million(t)
	n := l.Space().Size()
	if n < 1_000_000 {
		t.Fatalf("%d candidates, want a million", n)
	}
	t.Logf("%d candidates laid out in %v", n, time.Since(began))
	s := testutil.Must(New("regret", Options{Seed: 1}))(t)
	var m runtime.MemStats
	rounds := 2
	if testutil.AllCases() {
		rounds = 5
	}
	for round := 1; round <= rounds; round++ {
		began, used := time.Now(), cpuSeconds(t)
		batch := testutil.Must(s.Ask(State{Round: round, Want: 50, Ledger: l}))(t)
		used = cpuSeconds(t) - used
		runtime.ReadMemStats(&m)
		t.Logf("round %d: %d candidates in %.2f s of processor time, %v by the clock, %d MiB from the system",
			round, len(batch), used, time.Since(began), m.Sys>>20)
		if len(batch) < 50 || used > 3 {
			t.Errorf("round %d: %d candidates in %.2f s, want 50 in 3 s at most", round, len(batch), used)
		}
		for _, c := range batch {
			wide(t, l, c)
		}
	}
	if m.Sys > 1<<30 {
		t.Errorf("%d MiB from the system, want 1024 at most", m.Sys>>20)
	}
}
