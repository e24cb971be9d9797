package lab_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/lab"
	"tutti/internal/testutil"
	"tutti/surrogate/learner"
)

// TestContenders checks two rivals of the tuning method. "fact" must equal the strategy "uncertainty" with
// forests and FACT's initial design. "own-stop" must equal a calibration run of the strategy "regret".
func TestContenders(t *testing.T) {
	s, opt := set(t, "one", coll.Bcast), options()
	plain := replay(t, s, "uncertainty", 1, opt)
	opt.Model, opt.Selected = learner.GaussianProcess, true
	names := []string{"fact", "uncertainty", "own-stop"}
	all := compare(t, lab.Design{Sets: []lab.Set{s}, Strategies: names, Seeds: lab.Seeds(1, 1)}, opt)
	plain.Strategy = "fact"
	if diff := cmp.Diff(lines(t, []lab.Outcome{plain}), lines(t, all[:1])); diff != "" {
		t.Error(diff)
	}
	plain.Strategy = "uncertainty"
	if lines(t, []lab.Outcome{plain}) == lines(t, all[1:2]) {
		t.Error("the model and the initial design change nothing")
	}
	opt.Launch = benchrunner.LaunchCost{Model: benchrunner.LaunchCandidate}
	c := calibrate(t, s, 1, opt)
	if got := all[2]; got.MachineSeconds != c.StopSeconds || got.Converged != (c.Stopped && c.Good) || got.Slowdown != c.Slowdown {
		t.Errorf("own-stop %+v, calibration %+v", got, c)
	}
	if _, err := lab.ParseStrategies("regret,fact,own-stop,acclaim,iota,random-published"); err != nil {
		t.Error(err)
	}
	_, err := lab.ParseStrategies("nobody")
	testutil.GoldenErrors(t)("an unknown name", err)
	for _, name := range lab.Contenders() {
		if slices.Contains(lab.Strategies(), name) {
			t.Errorf("%s is a strategy and a contender", name)
		}
	}
}

// TestOwnStopRunsOn checks that a replay of the contender "own-stop" continues until the strategy stops by
// itself. A calibration run of the same campaign ends earlier, at its limit.
func TestOwnStopRunsOn(t *testing.T) {
	s, opt := set(t, "one", coll.Bcast), options()
	opt.Criteria.Slowdown, opt.Criteria.Confidence = 1.0005, 0.95
	opt.Launch = benchrunner.LaunchCost{Model: benchrunner.LaunchCandidate}
	c := calibrate(t, s, 1, opt)
	if c.Stopped || c.ConvergedSeconds == 0 {
		t.Fatalf("calibration %+v: want one that ended at the limit", c)
	}
	all := compare(t, lab.Design{Sets: []lab.Set{s}, Strategies: []string{"own-stop"}, Seeds: lab.Seeds(1, 1)}, opt)
	if got := all[0]; got.MachineSeconds <= c.StopSeconds || got.Stop != "right" || !got.Converged {
		t.Errorf("own-stop %+v, the calibration ended after %g s", got, c.StopSeconds)
	}
}
