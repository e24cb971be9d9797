package report

import (
	"slices"

	"tutti/campaign"
	"tutti/coll"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// ProblemOf gathers what the report shows of a problem: its result and what was
// concluded from it. It costs a cross-validation, Spec.Folds fits.
func ProblemOf(p campaign.Problem, res campaign.Result, c campaign.Conclusion) (ProblemFacts, error) {
	l := res.Ledger
	var held learner.HeldOut // none from a single point
	if l.PointsMeasured() > 1 {
		var err error
		if held, err = learner.CrossValidate(l.Measurements(), c.Spec.Folds, c.Spec.Seed, c.Learner); err != nil {
			return ProblemFacts{}, err
		}
	}
	f := ProblemFacts{
		Library: p.Library, Collective: string(p.Collective),
		Stop: string(res.Stop), Rounds: res.Rounds,
		Points: len(p.Space.Points()), PointsMeasured: l.PointsMeasured(),
		Candidates: p.Space.Size(), Trials: l.Trials(), Failed: l.Failed(),
		MachineSeconds: l.CostSeconds(), NodeSeconds: l.NodeSeconds(), ExhaustiveSeconds: p.ExhaustiveSeconds,
		Curve:      curveOf(res.Evaluations),
		Algorithms: algorithmFacts(p, res, c, held),
		HPO:        studyFacts(res.Study),
		Forest:     forestFacts(campaign.ParamsOf(c.Learner.Forest)),
		Leaves:     c.Selection.Leaves, TreeLoss: worstLoss(c),
		Warnings: res.Warnings,
	}
	f.Model, f.Weighted = string(c.Learner.Model), weightFacts(p)
	if c.Spec.HPO > 0 {
		f.NoStudy = campaign.NoStudy(c.Learner.Model)
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
	if f.Scores, err = scores(p, known, c, held); err != nil {
		return f, err
	}
	if s, ok := predictedScore(res.Evaluations); ok && !known.complete {
		f.Scores = append([]Score{s}, slices.DeleteFunc(f.Scores, func(o Score) bool { return o.Name == s.Name })...)
	}
	return f, addTies(&f, c, len(l.Measurements()))
}

// knowledge is the times that choices are compared by: the recorded truth, or
// what was measured.
type knowledge struct {
	seconds  map[coll.Candidate]float64
	fastest  map[coll.Point]coll.Measurement // without the default, unless it is all there is
	measured map[coll.Point]int
	complete bool // all there is to know: the recorded truth, or every candidate measured
}

func truthOf(p campaign.Problem, res campaign.Result) knowledge {
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
func cells(k knowledge, c campaign.Conclusion) []Cell {
	var out []Cell
	for _, row := range c.Rows {
		alg := c.Selection.Choose(row.Point)
		cell := Cell{
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
func worstLoss(c campaign.Conclusion) float64 {
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
func scores(p campaign.Problem, k knowledge, c campaign.Conclusion, held learner.HeldOut) ([]Score, error) {
	source := "measured"
	var tuned, byDefault []float64
	var tunedAt, defaultAt []coll.Point
	slower, worst, compared := 0, 0.0, false
	if !k.complete {
		tuned, tunedAt, source = held.Slowdowns, held.Points, string(campaign.ByCrossValidation)
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
	var out []Score
	s, err := score("tuned", source, tuned, tunedAt, p, c.Spec)
	if err != nil {
		return nil, err
	}
	if s != nil {
		if compared {
			s.Slower, s.SlowerWorst = &slower, &worst
		}
		out = append(out, *s)
	}
	if s, err = score("default", "measured", byDefault, defaultAt, p, c.Spec); err != nil {
		return nil, err
	}
	if s != nil {
		out = append(out, *s)
	}
	return out, nil
}

func algorithmFacts(p campaign.Problem, res campaign.Result, c campaign.Conclusion, held learner.HeldOut) []AlgorithmFacts {
	measured, selected := map[coll.Algorithm]int{}, map[coll.Algorithm]int{}
	for _, m := range res.Ledger.Measurements() {
		measured[m.Algorithm]++
	}
	for _, row := range c.Rows {
		selected[c.Selection.Choose(row.Point)]++
	}
	var out []AlgorithmFacts
	for _, alg := range p.Space.Algorithms() {
		f := AlgorithmFacts{Name: alg.String(), Measured: measured[alg], Selected: selected[alg]}
		if r2, err := held.R2(alg); err == nil {
			f.R2 = &r2
		}
		for _, pair := range held.Pairs {
			if pair.Algorithm == alg {
				f.Parity = append(f.Parity, Parity{Measured: pair.Measured, Predicted: pair.Predicted})
			}
		}
		out = append(out, f)
	}
	return out
}
