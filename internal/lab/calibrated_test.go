package lab_test

import (
	"context"
	"fmt"
	"testing"

	"tutti/internal/lab"
	"tutti/internal/testutil"
)

// TestStopsAreRight runs campaigns that stop when their predictions meet the stopping criteria, on three simulated
// data sets. At the stop, the true values of all campaigns but one must meet the criteria. The sum of their machine
// times may be at most 2.5 times the time until the true values met the criteria.
func TestStopsAreRight(t *testing.T) {
	var sets []lab.Set
	for _, name := range []string{"C_bcast", "C_allreduce", "D_allreduce"} {
		s, _, err := lab.Load([]string{fmt.Sprintf("../../data/simgrid/%s.csv", name)})
		testutil.NoError(t, err)
		sets = append(sets, s...)
	}
	opt := lab.DefaultOptions()
	opt.Workers = 2
	design := lab.Design{Sets: sets, Strategies: []string{"regret"}, Seeds: lab.Seeds(1, 4)}
	all := testutil.Must(lab.Calibrations(context.Background(), design, []float64{0.02}, []float64{0}, opt, nil, nil))(t)
	right, stop, held := 0, 0.0, 0.0
	for _, c := range all {
		if c.Stopped && c.Good {
			right++
		}
		stop, held = stop+c.StopSeconds, held+c.ConvergedSeconds
	}
	if right < len(all)-1 || stop > 2.5*held {
		t.Errorf("%d of %d stops are right, %.3g s until the stops, %.3g s until the criteria held: want all but one, and 2.5 times at most", right, len(all), stop, held)
	}
}
