package evaluate_test

import (
	"context"
	"testing"

	"tutti/activelearn"
	"tutti/evaluate"
)

// BenchmarkCampaignRecorded is BenchmarkCampaign on the largest recorded set:
// 831 points and 11 algorithms.
func BenchmarkCampaignRecorded(b *testing.B) {
	sets, _, err := evaluate.Load([]string{"../data/simgrid/A_bcast.csv"})
	if err != nil {
		b.Fatal(err)
	}
	for _, strategy := range activelearn.Names() {
		b.Run(strategy, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				o, err := evaluate.Run(context.Background(), sets[0], strategy, 1, evaluate.DefaultOptions())
				if err != nil {
					b.Fatal(err)
				}
				for _, m := range o.At {
					b.Logf("%g machine %.3f slowdown %.3f mistakes %.3f", m.Share, m.MachineShare, m.Slowdown, m.Mistakes)
				}
				b.ReportMetric(float64(len(o.Curve)), "rounds")
				b.ReportMetric(o.PointShare, "share")
				b.ReportMetric(o.MachineShare, "machine")
			}
		})
	}
}
