package export

import (
	"math"
	"testing"

	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/preprocess"
	"tutti/report"
	"tutti/verify"
)

// TestBenefit checks the share of the time in collectives that a selection saves. In the data, broadcasts
// become 1.25 times as fast at one point and 5 times as fast at another, and allreduces do not change.
func TestBenefit(t *testing.T) {
	point := func(c coll.Collective, bytes int64) coll.Point {
		return coll.Point{Collective: c, Nodes: 2, PPN: 1, MsgBytes: bytes}
	}
	bcast, allreduce := []coll.Point{point(coll.Bcast, 8), point(coll.Bcast, 4096)}, []coll.Point{point(coll.Allreduce, 8), point(coll.Allreduce, 4096)}
	value := func(x float64) *float64 { return &x }
	cells := func(first, second, byDefault *float64) []report.Cell {
		return []report.Cell{
			{Point: bcast[0], Slowdown: first, DefaultSlowdown: byDefault},
			{Point: bcast[1], Slowdown: second, DefaultSlowdown: byDefault},
		}
	}
	calls := []preprocess.Calls{{Point: bcast[0], Calls: 3}, {Point: bcast[1], Calls: 1}}
	timed := []preprocess.Calls{{Point: bcast[0], Calls: 1, Seconds: 3}, {Point: bcast[1], Calls: 9, Seconds: 1}, {Point: allreduce[0], Calls: 1, Seconds: 4}}
	jobs := []report.MachineTimeFacts{{Library: "mpich", Launch: 60, Measure: 20}, {Library: "openmpi", Measure: 1000}}
	for _, tc := range []struct {
		name      string
		calls     []preprocess.Calls
		byDefault *float64
		jobs      []report.MachineTimeFacts
		cost      float64
		saved     float64
	}{
		{"points", nil, value(2), nil, 30, 1 - math.Pow(0.8*0.2, 0.25)},
		{"jobs with launches", nil, value(2), jobs, 80, 1 - math.Pow(0.8*0.2, 0.25)},
		{"calls", calls, value(2), nil, 30, 1 - math.Pow(0.8, 0.75)*math.Pow(0.2, 0.25)},
		{"time", timed, value(2), nil, 30, (3*0.2 + 1*0.8) / 8},
		{"slower", nil, value(0.5), nil, 30, 1 - math.Pow(3.2*0.8, 0.25)},
		{"unknown default", nil, nil, nil, 30, math.NaN()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := &FinalSelections{campaign: &assembly.Campaign{Config: &config.Campaign{Grid: config.Grid{Calls: tc.calls}}}}
			f := report.Facts{MachineTime: tc.jobs}
			for i, points := range [][]coll.Point{bcast, allreduce} {
				weights, _, _ := preprocess.CallWeights(points, tc.calls)
				p := campaign.FinalSelection{FinalModel: &campaign.FinalModel{}}
				p.Problem = campaign.Problem{Space: coll.NewSpace(points, []coll.Algorithm{coll.Default}, func(coll.Candidate) error { return nil }), Weights: weights}
				p.Library, p.Problem.Collective = "mpich", points[0].Collective
				c.Problems = append(c.Problems, p)
				facts := report.ProblemFacts{Library: "mpich", NodeSeconds: 15, Cells: cells(value(1.6), value(0.4), tc.byDefault)}
				if i == 1 {
					facts.Cells = cells(value(1), value(1), value(1))
					if tc.byDefault == nil {
						facts.Cells = cells(value(1), value(1), nil)
					}
				}
				f.Problems = append(f.Problems, facts)
			}
			got := c.benefit(f, "mpich")
			if math.IsNaN(tc.saved) {
				if got != nil {
					t.Errorf("benefit %+v, want none", got)
				}
				return
			}
			if got == nil || got.NodeSeconds != tc.cost || math.Abs(got.Saved-tc.saved) > 1e-12 || (got.BreakEven == nil) != (tc.saved < 0) {
				t.Fatalf("benefit %+v, want %g of %g node-seconds", got, tc.saved, tc.cost)
			}
			if got.BreakEven != nil && math.Abs(*got.BreakEven-tc.cost/tc.saved) > 1e-9 {
				t.Errorf("break-even after %g node-seconds, want %g", *got.BreakEven, tc.cost/tc.saved)
			}
		})
	}
}

// TestBenefitOfVerification checks that a verified gain replaces the predicted one, that nothing breaks even where its
// interval reaches the default, and that an unguarded selection has no gain before a verification, unless it is recorded.
func TestBenefitOfVerification(t *testing.T) {
	p := coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 8}
	c := &FinalSelections{campaign: &assembly.Campaign{Config: &config.Campaign{}}}
	one := campaign.FinalSelection{FinalModel: &campaign.FinalModel{}}
	one.Problem = campaign.Problem{Space: coll.NewSpace([]coll.Point{p}, []coll.Algorithm{coll.Default}, func(coll.Candidate) error { return nil })}
	one.Library, one.Problem.Collective = "mpich", coll.Bcast
	c.Problems = append(c.Problems, one)
	tuned, byDefault := 1.0, 2.0
	for _, tc := range []struct {
		name       string
		notGuarded bool
		source     string          // of the scores
		time       verify.Interval // verified; zero: not verified
		saved      float64         // NaN: no benefit
		breakEven  bool
	}{
		{"not verified", false, "predicted", verify.Interval{}, 0.5, true},
		{"verified", false, "predicted", verify.Interval{Value: 0.8, Low: 0.75, High: 0.85}, 0.2, true},
		{"not distinguishable from the default", false, "predicted", verify.Interval{Value: 0.9, Low: 0.8, High: 1.01}, 0.1, false},
		{"not guarded", true, "predicted", verify.Interval{}, math.NaN(), false},
		{"not guarded, but recorded", true, "recorded", verify.Interval{}, 0.5, true},
		{"not guarded, but verified", true, "predicted", verify.Interval{Value: 0.8, Low: 0.75, High: 0.85}, 0.2, true},
	} {
		f := report.Facts{Problems: []report.ProblemFacts{{
			Library: "mpich", Collective: "bcast", NodeSeconds: 10, NotGuarded: tc.notGuarded, Noise: 0.1,
			Scores: []report.Score{{Name: "tuned", Source: tc.source}},
			Cells:  []report.Cell{{Point: coll.Point{Nodes: 2, PPN: 1, MsgBytes: 8}, Slowdown: &tuned, DefaultSlowdown: &byDefault}},
		}}}
		f.Verification = []report.VerificationFacts{{Result: verify.Result{Library: "mpich", Time: tc.time}}}
		got := c.benefit(f, "mpich")
		switch {
		case math.IsNaN(tc.saved):
			if got != nil {
				t.Errorf("%s: benefit %+v, want none", tc.name, got)
			}
		case got == nil || math.Abs(got.Saved-tc.saved) > 1e-12 || (got.BreakEven != nil) != tc.breakEven || got.Noise != 0.1:
			t.Errorf("%s: benefit %+v, want %g saved", tc.name, got, tc.saved)
		case (got.Verified != nil) != (tc.time != verify.Interval{}):
			t.Errorf("%s: verified %v", tc.name, got.Verified)
		}
	}
}
