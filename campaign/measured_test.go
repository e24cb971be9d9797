package campaign_test

import (
	"context"
	"math"
	"testing"

	"tutti/activelearn"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
)

// Where everything was measured, nothing need be predicted: the rows have the
// proportions of what was measured, and the fastest is chosen.
func TestMeasuredStandsForPrediction(t *testing.T) {
	s := spec("uncertainty")
	s.HPO, s.Criteria = 0, activelearn.Criteria{} // never holds
	p := problem(t, replay.Options{Noise: replay.Noise{Sigma: 0.3}, Seed: 5})
	res, err := campaign.Run(context.Background(), s, p, nil, nil, nil)
	if err != nil || res.Ledger.Left() > 0 {
		t.Fatalf("Run: stop %q, %v, want everything measured", res.Stop, err)
	}
	c := conclude(t, s, p, res)
	measured := map[coll.Candidate]float64{}
	for _, m := range res.Ledger.Measurements() {
		measured[m.Candidate] = m.Seconds
	}
	for _, row := range c.Rows {
		unit := 0.0
		for i, o := range row.Options {
			ratio := o.Seconds / measured[coll.Candidate{Point: row.Point, Algorithm: o.Algorithm}]
			if i == 0 {
				unit = ratio
			}
			if math.Abs(ratio/unit-1) > 1e-9 {
				t.Errorf("%v %v: %g of what was measured, want %g as its neighbour", row.Point, o.Algorithm, ratio, unit)
			}
		}
	}
}
