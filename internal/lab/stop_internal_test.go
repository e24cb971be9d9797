package lab

import (
	"context"
	"testing"

	"tutti/activelearn"
	"tutti/campaign"
)

// A replay stops where the campaign itself would: what is incredible then is measured again first.
func TestStopsLikeTheCampaign(t *testing.T) {
	sets, _, err := Load([]string{"../../data/simgrid/D_allgather.csv"})
	if err != nil {
		t.Fatal(err)
	}
	opt := DefaultOptions()
	opt.Trees, opt.Tail = 10, 0.1
	const seed = 4 // its last round shows what is incredible
	e := entry{sets[0], "regret", seed}
	replayed, err := calibrate(context.Background(), e, opt, true)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := e.set.machine(opt.replay(seed))
	if err != nil {
		t.Fatal(err)
	}
	spec := opt.spec(e)
	spec.CriteriaFrom = activelearn.Predicted
	res, err := campaign.Run(context.Background(), spec, e.problem(machine), nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	last := res.Evaluations[len(res.Evaluations)-1]
	if !replayed.Stopped || res.Stop != activelearn.Converged || replayed.StopSeconds != last.MachineSeconds || last.Outliers != 0 {
		t.Errorf("seed %d: replay stopped after %g s, the campaign (%s) after %g s with %d outliers", seed, replayed.StopSeconds, res.Stop, last.MachineSeconds, last.Outliers)
	}
}
