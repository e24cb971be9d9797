package export

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/report"
	"tutti/verify"
)

// benefit compares the cost of measuring a library with the time in collectives that its selection saves. It
// returns nil if no time of the library's default is known, or if the selection is neither guarded, nor verified, nor
// compared with recorded times. f has the problems and the machine time.
func (c *FinalSelections) benefit(f report.Facts, library string) *report.Benefit {
	tuning, verification := nodeSeconds(f, library)
	b := &report.Benefit{CollectiveShare: c.campaign.Config.CollectiveShare(), NodeSeconds: tuning + verification}
	ratios, weights := c.ratios(f, library)
	verified := slices.IndexFunc(f.Verification, func(v report.VerificationFacts) bool { return v.Library == library && v.Time != verify.Interval{} })
	if !(floats.Sum(weights) > 0) || verified < 0 && f.NotGuarded(library) && !recorded(f, library) {
		return nil
	}
	calls, mean := c.campaign.Config.Grid.Calls, stat.GeometricMean
	switch {
	case preprocess.Timed(calls):
		b.Workload, mean = "time in the trace", stat.Mean
	case len(calls) > 0:
		b.Workload = "geometric mean of the traced calls"
	default:
		b.Workload = "geometric mean of the points"
	}
	b.Saved = 1 - mean(ratios, weights)
	b.SavedLow, b.SavedHigh = c.savedInterval(ratios, weights, mean)
	for _, p := range f.Problems {
		if p.Library == library {
			b.Noise = max(b.Noise, p.Noise)
		}
	}
	if verified >= 0 {
		t := f.Verification[verified].Time
		b.Saved, b.SavedLow, b.SavedHigh = 1-t.Value, 1-t.High, 1-t.Low
		if len(calls) > 0 && !f.Verification[verified].Rules.Timed {
			b.Workload = "geometric mean of the traced calls"
		}
		b.Verified = &verify.Interval{Value: b.Saved, Low: b.SavedLow, High: b.SavedHigh}
	}
	if b.Saved > 0 && (b.Verified == nil || b.Verified.Low > 0) {
		b.BreakEven = new(b.NodeSeconds / b.Saved)
	}
	return b
}

// recorded reports whether the figures of a library are from recorded times of all candidates.
func recorded(f report.Facts, library string) bool {
	known := false
	for _, p := range f.Problems {
		if p.Library != library {
			continue
		}
		if known = len(p.Scores) > 0 && p.Scores[0].Source == string(report.Recorded); !known {
			return false
		}
	}
	return known
}

// nodeSeconds returns the node-seconds of tuning and of verifying a library: of the jobs or, without jobs, of the
// trials.
func nodeSeconds(f report.Facts, library string) (tuning, verification float64) {
	for _, m := range f.MachineTime {
		switch {
		case m.Library != library:
		case m.Collective == "":
			verification += m.NodeSeconds()
		default:
			tuning += m.NodeSeconds()
		}
	}
	if tuning+verification > 0 {
		return tuning, verification
	}
	for _, p := range f.Problems {
		if p.Library == library {
			tuning += p.NodeSeconds
		}
	}
	for _, v := range f.Verification {
		if v.Library == library {
			verification += v.Result.NodeSeconds
		}
	}
	return tuning, verification
}

// savedInterval returns the 95 % interval of the share that is saved, by bootstrap over the points.
func (c *FinalSelections) savedInterval(ratios, weights []float64, mean func(x, weights []float64) float64) (low, high float64) {
	saved := func(x, w []float64) float64 { return 1 - mean(x, w) }
	all := saved(ratios, weights)
	i, err := bootstrap(ratios, func(i int) float64 { return weights[i] }, all, saved, c.campaign.Config.Seed)
	if err != nil {
		return all, all
	}
	return i.Low, i.High
}

// ratios returns the tuned time divided by the default's time, at every point of a library where both are
// known. It also returns the weights of these points; see assembly.Campaign.WeighPoints.
func (c *FinalSelections) ratios(f report.Facts, library string) (ratios, weights []float64) {
	for i, p := range c.Problems {
		if p.Library != library {
			continue
		}
		cells := f.Problems[i].Cells
		points := make([]coll.Point, len(cells))
		for k, cell := range cells {
			points[k] = cell.Point
			points[k].Collective = p.Problem.Collective
		}
		weighed := c.campaign.WeighPoints(p.Problem, points)
		for k, cell := range cells {
			if cell.Slowdown != nil && cell.DefaultSlowdown != nil {
				ratios, weights = append(ratios, *cell.Slowdown / *cell.DefaultSlowdown), append(weights, weighed[k])
			}
		}
	}
	return ratios, weights
}
