package campaign_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/journal"
)

// TestMeasuredTimesReplacePredictions checks that, at a completely measured point, the times of the conclusion
// are the measured times, apart from a common factor.
func TestMeasuredTimesReplacePredictions(t *testing.T) {
	s := spec("uncertainty")
	s.HPO, s.Criteria = 0, activelearn.Criteria{} // criteria that never hold
	p := problem(t, replay.Options{Noise: replay.Noise{Sigma: 0.3}, Seed: 5})
	res, err := campaign.Run(context.Background(), s, p, nil, nil, nil)
	if err != nil || res.Ledger.FreeCount() > 0 {
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
				t.Errorf("%v %v: %g of the measured time, want %g as for the first algorithm", row.Point, o.Algorithm, ratio, unit)
			}
		}
	}
}

// noisyRunner is a runner whose measurements have confidence intervals.
type noisyRunner struct {
	benchrunner.Runner
	width float64 // half the width of an interval, relative to the time
}

func (d noisyRunner) Run(ctx context.Context, b benchrunner.Batch, log benchrunner.Log) error {
	return d.Runner.Run(ctx, b, intervalLog{log, d.width})
}

type intervalLog struct {
	benchrunner.Log
	width float64
}

// Trial logs a trial with a confidence interval.
func (l intervalLog) Trial(t coll.Trial) error {
	t.Low, t.High = t.Seconds*(1-l.width), t.Seconds*(1+l.width)
	return l.Log.Trial(t)
}

// TestDefaultStaysWithinNoise checks a library default that is 5 % slower than the algorithm "tree". If their
// confidence intervals overlap, the default must be selected, and the report must count the points where this
// happened.
func TestDefaultStaysWithinNoise(t *testing.T) {
	for _, tc := range []struct {
		name  string
		width float64
		stays bool
		stop  activelearn.StopReason // a default that is 5 % slower does not meet the criteria
	}{{"clear", 0.01, false, activelearn.Converged}, {"within noise", 0.03, true, activelearn.SpaceExhausted}} {
		t.Run(tc.name, func(t *testing.T) {
			var truth []coll.Measurement
			for _, m := range testutil.SyntheticMeasurements(grid(t)) {
				if m.Algorithm.Name == "tree" {
					truth = append(truth, m)
					m.Algorithm, m.Seconds = coll.Default, 1.05*m.Seconds
					truth = append(truth, m)
				}
			}
			m := testutil.Must(replay.New(truth, replay.Options{}))(t)
			p := campaign.Problem{
				Problem: journal.Problem{Library: "mpich", Collective: coll.Bcast},
				Space:   m.Space(), Runner: noisyRunner{m, tc.width}, Merge: fit,
			}
			s := spec("uncertainty")
			s.HPO, s.CriteriaFrom, s.Batch.Candidates, s.Guard = 0, activelearn.CrossValidated, 1<<20, true
			res, err := campaign.Run(context.Background(), s, p, nil, nil, nil)
			if err != nil || res.Stop != tc.stop {
				t.Fatalf("Run: stop %q, %v, want %q", res.Stop, err, tc.stop)
			}
			f := facts(t, s, p, res)
			last := res.Evaluations[len(res.Evaluations)-1]
			if tuned := f.Scores[0]; tuned.Source != "measured" || tuned.Slowdown != last.Slowdown || tuned.Mistakes != last.Mistakes {
				t.Errorf("score %+v, want the figures of the last evaluation %+v", tuned, last)
			}
			if ties := fmt.Sprintf("%d points are ties", len(f.Cells)); strings.Contains(f.NotConverged(), ties) != tc.stays {
				t.Errorf("stop %q, ties: %t", f.NotConverged(), tc.stays)
			}
			for _, cell := range f.Cells {
				if stays := cell.Algorithm == coll.Default.String(); stays != tc.stays || cell.DefaultKept != tc.stays {
					t.Errorf("%dx%d %d B: %s is selected, default kept: %t", cell.Nodes, cell.PPN, cell.MsgBytes, cell.Algorithm, cell.DefaultKept)
				}
			}
			if (f.DefaultKept > 0) != tc.stays {
				t.Errorf("the default is kept at %d points", f.DefaultKept)
			}
		})
	}
}

// crashingRunner is a machine on which an algorithm crashes for large messages.
type crashingRunner struct {
	benchrunner.Runner
	algorithm string
	from      int64 // smallest message size that crashes, bytes
}

func (d crashingRunner) Run(ctx context.Context, b benchrunner.Batch, log benchrunner.Log) error {
	return d.Runner.Run(ctx, b, crashLog{log, d})
}

type crashLog struct {
	benchrunner.Log
	machine crashingRunner
}

// Trial logs the trials of crashing candidates as failed.
func (l crashLog) Trial(t coll.Trial) error {
	if t.Algorithm.Name == l.machine.algorithm && t.MsgBytes >= l.machine.from {
		t.State, t.Phase, t.Error, t.Seconds = coll.TrialFailed, "run", "killed", 0
	}
	return l.Log.Trial(t)
}

// TestFailedIsNotSelected checks that an algorithm is not selected for sizes at which it crashes. Candidates
// that were given up must not be selected either.
func TestFailedIsNotSelected(t *testing.T) {
	tests := []struct {
		name     string
		failures float64
		crashes  string
		more     bool // run only if all test cases are wanted
	}{
		{"tree crashes from 2 KiB on", 0, "tree", false},
		{"halving crashes from 2 KiB on", 0, "halving", true},
		{"three of ten trials fail", 0.3, "", true},
		{"six of ten trials fail", 0.6, "", false},
	}
	const from = 2048
	for _, strategy := range activelearn.Names() {
		for _, tc := range tests {
			t.Run(fmt.Sprintf("%s %s", strategy, tc.name), func(t *testing.T) {
				if tc.more {
					testutil.NeedAllCases(t)
				}
				p := problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02}, FailureRate: tc.failures})
				p.Runner = crashingRunner{p.Runner, tc.crashes, from}
				s := spec(strategy)
				s.HPO, s.CriteriaFrom = 0, campaign.SourceFor(strategy)
				s.Batch.Candidates = 40
				res := mustRun(t, s, p, nil)
				if res.Ledger.Failed() == 0 {
					t.Fatal("nothing failed")
				}
				checkFailed(t, conclude(t, s, p, res), p, tc.crashes, from)
			})
		}
	}
}

func checkFailed(t *testing.T, c campaign.FinalSelection, p campaign.Problem, crashes string, from int64) {
	t.Helper()
	for _, point := range p.Space.Points() {
		chosen := coll.Candidate{Point: point, Algorithm: c.Selection.Choose(point)}
		if c.Excluded().Has(chosen) {
			t.Errorf("%v is selected, though it failed", chosen)
		}
		if crashes != "" && chosen.Algorithm.Name == crashes && point.MsgBytes >= from {
			t.Errorf("%v is selected, though it crashes from %s on", chosen, coll.FormatBytes(from))
		}
	}
}

// TestReportNamesExcludedAlgorithms checks that the report counts excluded points for the algorithm that
// crashes and for no other.
func TestReportNamesExcludedAlgorithms(t *testing.T) {
	p := problem(t, replay.Options{Seed: 1})
	p.Runner = crashingRunner{p.Runner, "tree", 2048}
	s := spec("uncertainty")
	s.HPO, s.Criteria = 0, activelearn.Criteria{Slowdown: 1.1, Mistakes: 0.2}
	res := mustRun(t, s, p, nil)
	for _, a := range facts(t, s, p, res).Algorithms {
		if (a.Excluded > 0) != (a.Name == "tree") {
			t.Errorf("%s is excluded at %d points", a.Name, a.Excluded)
		}
	}
}
