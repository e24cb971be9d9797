package campaign_test

import (
	"context"
	"fmt"
	"testing"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
)

// deadly is a machine on which an algorithm dies from a size on.
type deadly struct {
	benchrunner.Runner
	algorithm string
	from      int64 // bytes
}

// Run answers as the machine does, but for what dies.
func (d deadly) Run(ctx context.Context, b benchrunner.Batch, log benchrunner.Log) error {
	return d.Runner.Run(ctx, b, deadlyLog{log, d})
}

type deadlyLog struct {
	benchrunner.Log
	machine deadly
}

// Trial passes a trial on, as a failed one where the algorithm dies.
func (l deadlyLog) Trial(t coll.Trial) error {
	if t.Algorithm.Name == l.machine.algorithm && t.MsgBytes >= l.machine.from {
		t.State, t.Phase, t.Error, t.Seconds = coll.TrialFailed, "run", "killed", 0
	}
	return l.Log.Trial(t)
}

// An algorithm that dies from a size on is selected nowhere at that size or beyond, however
// fast it is predicted to be; nor is anything selected where it was given up.
func TestWhatFailedIsNotSelected(t *testing.T) {
	tests := []struct {
		name     string
		failures float64
		dies     string
	}{
		{"tree dies from 2 KiB on", 0, "tree"},
		{"halving dies from 2 KiB on", 0, "halving"},
		{"three of ten trials fail", 0.3, ""},
		{"six of ten trials fail", 0.6, ""},
	}
	const from = 2048
	for _, strategy := range activelearn.Names() {
		for _, tc := range tests {
			t.Run(fmt.Sprintf("%s %s", strategy, tc.name), func(t *testing.T) {
				p := problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02}, FailureRate: tc.failures})
				p.Runner = deadly{p.Runner, tc.dies, from}
				s := spec(strategy)
				s.HPO, s.CriteriaFrom = 0, campaign.SourceFor(strategy)
				s.Batch.Candidates = 40
				res, err := campaign.Run(context.Background(), s, p, nil, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				if res.Ledger.Failed() == 0 {
					t.Fatal("nothing failed")
				}
				checkFailed(t, conclude(t, s, p, res), p, tc.dies, from)
			})
		}
	}
}

func checkFailed(t *testing.T, c campaign.Conclusion, p campaign.Problem, dies string, from int64) {
	t.Helper()
	for _, point := range p.Space.Points() {
		chosen := coll.Candidate{Point: point, Algorithm: c.Selection.Choose(point)}
		if c.Excluded().Has(chosen) {
			t.Errorf("%v is selected, though it failed", chosen)
		}
		if dies != "" && chosen.Algorithm.Name == dies && point.MsgBytes >= from {
			t.Errorf("%v is selected, though it dies from %s on", chosen, coll.FormatBytes(from))
		}
	}
}

// What the report says of failures is what the selection was made by.
func TestReportNamesWhatFailed(t *testing.T) {
	p := problem(t, replay.Options{Seed: 1})
	p.Runner = deadly{p.Runner, "tree", 2048}
	s := spec("uncertainty")
	s.HPO, s.Criteria = 0, activelearn.Criteria{Slowdown: 1.1, Mistakes: 0.2}
	res, err := campaign.Run(context.Background(), s, p, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range facts(t, s, p, res).Algorithms {
		if (a.Excluded > 0) != (a.Name == "tree") {
			t.Errorf("%s is barred at %d points", a.Name, a.Excluded)
		}
	}
}
