package campaign

import (
	"slices"

	"tutti/campaign/report"
	"tutti/coll"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// newFacts gathers what the report shows of a problem.
func newFacts(spec Spec, final learner.Options, p Problem, res Result, c Conclusion, held learner.HeldOut) (report.ProblemFacts, error) {
	l := res.Ledger
	f := report.ProblemFacts{
		Library: p.Library, Collective: string(p.Collective),
		Stop: string(res.Stop), Rounds: res.Rounds,
		Points: len(p.Space.Points()), PointsMeasured: l.PointsMeasured(),
		Candidates: p.Space.Size(), Trials: l.Trials(), Failed: l.Failed(),
		MachineSeconds: l.CostSeconds(), NodeSeconds: l.NodeSeconds(), ExhaustiveSeconds: p.ExhaustiveSeconds,
		Curve:      curveOf(res.Evaluations),
		Algorithms: algorithmFacts(p, res, c, held),
		HPO:        studyFacts(res.Study),
		Forest:     forestFacts(paramsOf(final.Forest)),
		Leaves:     c.Selection.Leaves, TreeLoss: worstLoss(c),
		Warnings: res.Warnings,
	}
	f.Model, f.Weighted = string(final.Model), weightFacts(p)
	if spec.HPO > 0 {
		f.NoStudy = noStudy(final.Model)
	}
	for i, earlier := range p.Earlier {
		compared, err := compare(p.EarlierNames[i], earlier, l.Measurements())
		if err != nil {
			return f, err
		}
		f.Compared = append(f.Compared, compared)
	}
	known := truthOf(p, res)
	f.Cells = cells(known, c)
	var err error
	f.Scores, err = scores(spec, p, known, c, held)
	if s, ok := predictedScore(res.Evaluations); ok && !known.complete {
		f.Scores = append([]report.Score{s}, slices.DeleteFunc(f.Scores, func(o report.Score) bool { return o.Name == s.Name })...)
	}
	return f, err
}

// knowledge is the times that choices are compared by: the recorded truth, or
// what was measured.
type knowledge struct {
	seconds  map[coll.Candidate]float64
	fastest  map[coll.Point]coll.Measurement // without the default, unless it is all there is
	measured map[coll.Point]int
	complete bool // all there is to know: the recorded truth, or every candidate measured
}

func truthOf(p Problem, res Result) knowledge {
	k := knowledge{
		seconds:  map[coll.Candidate]float64{},
		fastest:  map[coll.Point]coll.Measurement{},
		measured: map[coll.Point]int{},
		complete: p.Truth != nil || res.Ledger.Left() == 0,
	}
	for _, m := range res.Ledger.Measurements() {
		k.measured[m.Point]++
	}
	ms := p.Truth
	if ms == nil {
		ms = res.Ledger.Measurements()
	}
	for _, m := range ms {
		k.seconds[m.Candidate] = m.Seconds
		best, ok := k.fastest[m.Point]
		if !ok || m.Seconds < best.Seconds || m.Seconds == best.Seconds && best.Algorithm.IsDefault() {
			k.fastest[m.Point] = m
		}
	}
	return k
}

// slowdown compares a choice at a point with the fastest known there.
func (k knowledge) slowdown(p coll.Point, alg coll.Algorithm) (float64, bool) {
	chosen, ok := k.seconds[coll.Candidate{Point: p, Algorithm: alg}]
	if !ok {
		return 0, false
	}
	s, err := metrics.Slowdown(chosen, k.fastest[p].Seconds)
	return s, err == nil
}

// cells describe every grid point: slowdowns where everything is known, predicted
// ones where it is not.
func cells(k knowledge, c Conclusion) []report.Cell {
	var out []report.Cell
	for _, row := range c.Rows {
		alg := c.Selection.Choose(row.Point)
		cell := report.Cell{
			Nodes: row.Point.Nodes, PPN: row.Point.PPN, MsgBytes: row.Point.MsgBytes,
			Measured: k.measured[row.Point],
			Selected: alg.String(),
		}
		of := func(a coll.Algorithm) *float64 {
			if s, ok := k.slowdown(row.Point, a); ok && k.complete {
				return &s
			}
			if loss, ok := row.Loss(a); ok && !k.complete {
				s := 1 + loss
				return &s
			}
			return nil
		}
		cell.TunedSlowdown, cell.DefaultSlowdown = of(alg), of(coll.Default)
		if k.complete {
			cell.Best = k.fastest[row.Point].Algorithm.String()
		}
		out = append(out, cell)
	}
	return out
}

// worstLoss is the largest predicted slowdown, minus one, of what is selected
// against the best prediction at the point.
func worstLoss(c Conclusion) float64 {
	worst := 0.0
	for _, row := range c.Rows {
		if loss, ok := row.Loss(c.Selection.Choose(row.Point)); ok {
			worst = max(worst, loss)
		}
	}
	return worst
}

// scores says how good the tuned selection and the default are: against all there
// is to know, or else held out and on the measured points.
func scores(spec Spec, p Problem, k knowledge, c Conclusion, held learner.HeldOut) ([]report.Score, error) {
	source := "measured"
	var tuned, byDefault []float64
	var tunedAt, defaultAt []coll.Point
	slower, worst, compared := 0, 0.0, false
	if !k.complete {
		tuned, tunedAt, source = held.Slowdowns, held.Points, string(ByCrossValidation)
	}
	for _, point := range p.Space.Points() {
		d, defaultKnown := k.slowdown(point, coll.Default)
		if defaultKnown {
			byDefault, defaultAt = append(byDefault, d), append(defaultAt, point)
		}
		if !k.complete {
			continue
		}
		t, ok := k.slowdown(point, c.Selection.Choose(point))
		if !ok {
			continue
		}
		tuned, tunedAt = append(tuned, t), append(tunedAt, point)
		if defaultKnown {
			compared = true
			worst = max(worst, t/d)
			if t/d > 1+metrics.DefaultTieTolerance {
				slower++
			}
		}
	}
	var out []report.Score
	s, err := score("tuned", source, tuned, tunedAt, p, spec)
	if err != nil {
		return nil, err
	}
	if s != nil {
		if compared {
			s.Slower, s.SlowerWorst = &slower, &worst
		}
		out = append(out, *s)
	}
	if s, err = score("default", "measured", byDefault, defaultAt, p, spec); err != nil {
		return nil, err
	}
	if s != nil {
		out = append(out, *s)
	}
	return out, nil
}

func algorithmFacts(p Problem, res Result, c Conclusion, held learner.HeldOut) []report.AlgorithmFacts {
	measured, selected := map[coll.Algorithm]int{}, map[coll.Algorithm]int{}
	for _, m := range res.Ledger.Measurements() {
		measured[m.Algorithm]++
	}
	for _, row := range c.Rows {
		selected[c.Selection.Choose(row.Point)]++
	}
	var out []report.AlgorithmFacts
	for _, alg := range p.Space.Algorithms() {
		f := report.AlgorithmFacts{Name: alg.String(), Measured: measured[alg], Selected: selected[alg]}
		if r2, err := held.R2(alg); err == nil {
			f.R2 = &r2
		}
		for _, pair := range held.Pairs {
			if pair.Algorithm == alg {
				f.Parity = append(f.Parity, report.Parity{Measured: pair.Measured, Predicted: pair.Predicted})
			}
		}
		out = append(out, f)
	}
	return out
}
