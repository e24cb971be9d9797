package export

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"tutti/coll"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/report"
	"tutti/verify"
)

// benefit compares the cost of measuring a library with the time in collectives that its selection saves. It
// returns nil if no time of the library's default is known, or if the selection is neither guarded nor verified. f has
// the problems and the machine time.
func (c *Conclusions) benefit(f report.Facts, library string) *report.Benefit {
	b := &report.Benefit{CollectiveShare: c.campaign.Config.Export.CollectiveShare}
	for _, m := range f.MachineTime {
		if m.Library == library {
			b.NodeSeconds += m.NodeSeconds()
		}
	}
	if b.NodeSeconds == 0 { // recorded data, without jobs
		for _, p := range f.Problems {
			if p.Library == library {
				b.NodeSeconds += p.NodeSeconds
			}
		}
		for _, v := range f.Verification {
			if v.Library == library {
				b.NodeSeconds += v.Result.NodeSeconds
			}
		}
	}
	ratios, weights := c.ratios(f, library)
	verified := slices.IndexFunc(f.Verification, func(v report.VerificationFacts) bool { return v.Library == library && v.Time != verify.Interval{} })
	if !(floats.Sum(weights) > 0) || verified < 0 && f.NotGuarded(library) {
		return nil
	}
	calls := c.campaign.Config.Grid.Calls
	switch {
	case preprocess.Timed(calls):
		b.Workload, b.Saved = "time in the trace", 1-stat.Mean(ratios, weights)
	case len(calls) > 0:
		b.Workload, b.Saved = "geometric mean of the traced calls", 1-stat.GeometricMean(ratios, weights)
	default:
		b.Workload, b.Saved = "geometric mean of the points", 1-stat.GeometricMean(ratios, weights)
	}
	b.Noise = noiseOf(f, library)
	if verified >= 0 {
		t := f.Verification[verified].Time
		b.Saved, b.Verified = 1-t.Value, &verify.Interval{Value: 1 - t.Value, Low: 1 - t.High, High: 1 - t.Low}
	}
	if b.Saved > 0 && (b.Verified == nil || b.Verified.Low > 0) {
		after := b.NodeSeconds / b.Saved
		b.BreakEven = &after
	}
	return b
}

// noiseOf returns the largest noise of a library's problems.
func noiseOf(f report.Facts, library string) (most float64) {
	for _, p := range f.Problems {
		if p.Library == library {
			most = max(most, p.Noise)
		}
	}
	return most
}

// ratios returns the tuned time divided by the default's time, at every point of a library where both are
// known. It also returns the weights of these points. Collectives are weighted by the trace, if there is one.
func (c *Conclusions) ratios(f report.Facts, library string) (ratios, weights []float64) {
	for i, p := range c.Problems {
		if p.Library != library {
			continue
		}
		points := p.Space.Points()
		ofCollective := 1.0 // average over the points of the collective
		if calls := c.campaign.Config.Grid.Calls; len(calls) > 0 {
			ofCollective = preprocess.CallWeight(p.Problem.Collective, calls) / float64(len(points))
		}
		for _, cell := range f.Problems[i].Cells {
			if cell.Slowdown == nil || cell.DefaultSlowdown == nil {
				continue
			}
			point := coll.Point{Collective: p.Problem.Collective, Nodes: cell.Nodes, PPN: cell.PPN, MsgBytes: cell.MsgBytes}
			weight := ofCollective
			if weighed := p.Weigh(metrics.Options{}, []coll.Point{point}).Weights; weighed != nil {
				weight *= weighed[0]
			}
			ratios, weights = append(ratios, *cell.Slowdown / *cell.DefaultSlowdown), append(weights, weight)
		}
	}
	return ratios, weights
}
