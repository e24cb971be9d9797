package evaluate_test

import (
	"context"
	"testing"

	"tutti/activelearn"
	"tutti/benchrunner/synthetic"
	"tutti/coll"
	"tutti/evaluate"
	"tutti/space"
)

// machine has 10 algorithms at 800 points: the four of the synthetic machine,
// and copies of them that are slower by a share of their own.
func machine(t testing.TB) evaluate.Set {
	t.Helper()
	g := space.Grid{Nodes: []int{2, 4, 6, 8, 12, 16, 24, 32, 48, 64}, PPN: []int{1, 4, 8, 16}}
	for size := int64(1); size <= 1<<19; size *= 2 {
		g.MsgBytes = append(g.MsgBytes, size)
	}
	points, err := g.Points(coll.Bcast)
	if err != nil {
		t.Fatal(err)
	}
	var ms []coll.Measurement
	for copied, suffix := range []string{"", "_b", "_c"} {
		for i, m := range synthetic.Measurements(points) {
			if copied == 2 && i%4 >= 2 {
				continue
			}
			m.Algorithm, err = coll.NewAlgorithm(m.Algorithm.Name + suffix)
			if err != nil {
				t.Fatal(err)
			}
			m.Seconds *= 1 + 0.03*float64(copied)*float64(1+i%3)
			ms = append(ms, m)
		}
	}
	s, err := evaluate.NewSet("synthetic", ms)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// BenchmarkCampaign replays one collective of 800 points and 10 algorithms until
// it converges and half of it is measured, and further when it does not.
func BenchmarkCampaign(b *testing.B) {
	s := machine(b)
	for _, strategy := range activelearn.Names() {
		b.Run(strategy, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				o, err := evaluate.Run(context.Background(), s, strategy, 1, evaluate.DefaultOptions())
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(o.Curve)), "rounds")
				b.ReportMetric(o.PointShare, "share")
			}
		})
	}
}
