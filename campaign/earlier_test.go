package campaign_test

import (
	"testing"

	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/report"
)

// changedMachine returns a problem on the synthetic machine. The time of each candidate is multiplied by a
// factor.
func changedMachine(t *testing.T, seed uint64, factor func(coll.Candidate) float64) campaign.Problem {
	t.Helper()
	g := coll.Grid{Nodes: []int{2, 4, 8, 16}, PPN: []int{1, 4}, Sizes: []int64{8, 64, 512, 4096, 32768, 262144, 1 << 20}}
	points := testutil.Must(g.Points(coll.Bcast))(t)
	truth := testutil.SyntheticMeasurements(points)
	for i, m := range truth {
		truth[i].Seconds *= factor(m.Candidate)
		truth[i].CostSeconds *= factor(m.Candidate)
	}
	machine := testutil.Must(replay.New(truth, replay.Options{Seed: seed, Noise: replay.Noise{Sigma: 0.02}}))(t)
	p := problem(t, replay.Options{})
	p.Space, p.Runner, p.Truth = machine.Space(), machine, truth
	return p
}

// TestEarlierCampaign checks a campaign that uses the measurements of an earlier one. If the machine has not
// changed, it must cost little more than its audits (comparisons before a stop). If an algorithm or the
// network became slower, the report must say so.
func TestEarlierCampaign(t *testing.T) {
	run := func(seed uint64, batch int, factor func(coll.Candidate) float64, earlier []coll.Measurement) (campaign.Result, report.ProblemFacts) {
		t.Helper()
		p := changedMachine(t, seed, factor)
		if earlier != nil {
			p.Earlier, p.EarlierNames = [][]coll.Measurement{earlier}, []string{"first"}
		}
		s := spec("regret")
		s.HPO, s.CriteriaFrom, s.Seed = 0, campaign.SourceFor("regret"), seed
		s.Batch.Candidates = batch
		res := mustRun(t, s, p, nil)
		f := facts(t, s, p, res)
		t.Logf("stop %s, %.3g s, slowdown %.4f, mistakes %.3f", res.Stop, f.MachineSeconds, f.Scores[0].Slowdown, f.Scores[0].Mistakes)
		return res, f
	}
	unchanged := func(coll.Candidate) float64 { return 1 }
	first, firstFacts := run(1, 8, unchanged, nil)
	for _, tc := range []struct {
		name   string
		batch  int
		factor func(coll.Candidate) float64
		most   float64 // maximum machine time relative to the first campaign
		found  func(report.ComparedFacts) bool
	}{
		{"nothing changed", 8, unchanged, 0.4, func(c report.ComparedFacts) bool {
			for _, g := range append(c.Algorithms, c.Sizes...) {
				if g.Changed {
					return false
				}
			}
			return true
		}},
		{"one algorithm is twice as slow", 12, func(c coll.Candidate) float64 {
			if c.Algorithm.Name == "halving" {
				return 2
			}
			return 1
		}, 2, func(c report.ComparedFacts) bool {
			for _, g := range c.Algorithms {
				if g.Changed != (g.Name == "halving") {
					return false
				}
			}
			return true
		}},
		{"the network is slower for large messages", 8, func(c coll.Candidate) float64 {
			if c.MsgBytes >= 32768 {
				return 1.5
			}
			return 1
		}, 2, func(c report.ComparedFacts) bool {
			changed := 0
			for i, s := range c.Sizes { // only the last two ranges of sizes may have changed
				switch {
				case s.Changed && i < len(c.Sizes)-2:
					return false
				case s.Changed:
					changed++
				}
			}
			return changed > 0
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, f := run(2, tc.batch, tc.factor, first.Ledger.Measurements())
			if f.MachineSeconds > tc.most*firstFacts.MachineSeconds {
				t.Errorf("%.3g s after %.3g s", f.MachineSeconds, firstFacts.MachineSeconds)
			}
			if !tc.found(f.Compared[0]) {
				t.Errorf("the comparison says %+v", f.Compared[0])
			}
			if s := f.Scores[0]; s.Slowdown > 1.03 || s.Mistakes > 0.05 { // the criteria
				t.Errorf("slowdown %.4f, mistakes %.3f: want at most 1.03 and 0.05", s.Slowdown, s.Mistakes)
			}
		})
	}
}
