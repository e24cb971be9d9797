package campaign_test

import (
	"testing"

	"tutti/activelearn"
	"tutti/coll"
)

// TestRisk checks that only selected algorithms have a risk, that it is smaller where choice and default were measured,
// and that it falls with the measured gain.
func TestRisk(t *testing.T) {
	s := spec("regret")
	s.HPO, s.CriteriaFrom = 0, activelearn.Predicted
	res := mustRun(t, s, withDefault(t, grid(t)), nil)
	c := conclude(t, s, withDefault(t, grid(t)), res)
	var measured, predicted []float64
	for _, p := range c.Points {
		risk := c.Risk(p)
		alg := c.Selection.Choose(p)
		switch {
		case alg.IsDefault():
			if risk != 0 {
				t.Errorf("%v: risk %g of the default, want 0", p, risk)
			}
		case !(risk >= 0):
			t.Errorf("%v: risk %g of %v, want 0 at least", p, risk, alg)
		case res.Ledger.IsMeasured(coll.Candidate{Point: p, Algorithm: alg}) && res.Ledger.IsMeasured(coll.Candidate{Point: p, Algorithm: coll.Default}):
			measured = append(measured, risk)
		default:
			predicted = append(predicted, risk)
		}
	}
	if len(measured) == 0 || len(predicted) == 0 {
		t.Fatalf("%d measured and %d predicted selections, want some of both", len(measured), len(predicted))
	}
	mean := func(v []float64) (sum float64) {
		for _, x := range v {
			sum += x / float64(len(v))
		}
		return sum
	}
	if mean(measured) >= mean(predicted) {
		t.Errorf("mean risk %g where both were measured, %g elsewhere", mean(measured), mean(predicted))
	}
}
