package activelearn

import (
	"fmt"
	"math"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
)

// measured300 returns a ledger with 800 points and 10 algorithms, in which 300 candidates are measured.
func measured300(b *testing.B) *Ledger {
	b.Helper()
	g := coll.Grid{Nodes: []int{2, 3, 4, 6, 8, 12, 16, 24, 32, 48}, PPN: []int{1, 2, 4, 8}}
	for i := range 20 {
		g.MsgBytes = append(g.MsgBytes, int64(1)<<i)
	}
	points := testutil.Must(g.Points(coll.Bcast))(b)
	var algorithms []coll.Algorithm
	for k := range 10 {
		algorithms = append(algorithms, coll.Algorithm{Name: fmt.Sprint("a", k)})
	}
	l := NewLedger(coll.NewSpace(points, algorithms, func(coll.Candidate) error { return nil }))
	for i := range 300 {
		k := i % 10
		c := l.Space().At(i * 7919 % len(points))[k]
		seconds := 1e-6 * (1 + float64(c.MsgBytes)/1e3*(1+0.1*math.Sin(float64(k)+math.Log2(float64(c.Nodes)))))
		testutil.NoError(b, l.Pend(c))
		m := coll.Measurement{Candidate: c, Seconds: seconds, CostSeconds: 1000 * seconds}
		testutil.NoError(b, l.Record(coll.Trial{Measurement: m, State: coll.TrialDone}))
	}
	return l
}

// BenchmarkAsk measures one call of Ask after 300 measurements. The time includes learning the
// hyperparameters.
func BenchmarkAsk(b *testing.B) {
	l := measured300(b)
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s := testutil.Must(New(name, Options{Seed: 1}))(b)
				if _, err := s.Ask(State{Round: 20, Want: 15, Ledger: l}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
