package report

import (
	"fmt"
	"slices"

	"tutti/activelearn"
	"tutti/campaign"
	"tutti/coll"
	"tutti/surrogate/learner"
)

// ProblemOf gathers what the report shows of a problem: its result and what was
// concluded from it. It costs a cross-validation, Spec.Folds fits.
func ProblemOf(p campaign.Problem, res campaign.Result, c campaign.Conclusion) (ProblemFacts, error) {
	l := res.Ledger
	held, err := heldOut(l, c)
	if err != nil {
		return ProblemFacts{}, err
	}
	f := ProblemFacts{
		Library: p.Library, Collective: string(p.Collective),
		Stop: string(res.Stop), Rounds: res.Rounds,
		Points: len(p.Space.Points()), PointsMeasured: l.PointsMeasured(),
		Candidates: l.Space().Size(), Trials: l.Trials(), Failed: l.Failed(), Repeats: len(l.Repeats()),
		MachineSeconds: l.CostSeconds(), NodeSeconds: l.NodeSeconds(), ExhaustiveSeconds: p.ExhaustiveSeconds,
		Curve:      curveOf(res.Evaluations),
		Algorithms: algorithmFacts(p, res, c, held),
		HPO:        studyFacts(res.Study),
		Forest:     forestFacts(campaign.ParamsOf(c.Learner.Forest)),
		Leaves:     c.Selection.Leaves, TreeLoss: worstLoss(c),
		Warnings: res.Warnings,
		Model:    string(c.Learner.Model),
		Weighted: weightFacts(p),
	}
	f.Warnings = append(slices.Clip(f.Warnings), barredInWords(f.Algorithms)...)
	if c.Spec.HPO > 0 && len(res.Study.Trials) == 0 {
		f.NoStudy = campaign.NoStudy(c.Learner.Model, c.Models)
	}
	for i, earlier := range p.Earlier {
		compared, err := compare(p.EarlierNames[i], earlier, l.Measurements())
		if err != nil {
			return f, err
		}
		f.Compared = append(f.Compared, compared)
	}
	known := knowledgeOf(p, res)
	f.Cells = cells(known, c)
	for _, cell := range f.Cells {
		if cell.Even {
			f.Even++
		}
	}
	if f.Scores, err = scores(p, known, c, held); err != nil {
		return f, err
	}
	if s, ok := predictedScore(res.Evaluations); ok && !known.complete {
		f.Scores = append([]Score{s}, slices.DeleteFunc(f.Scores, func(o Score) bool { return o.Name == s.Name })...)
	}
	return f, addTies(&f, c, len(l.Measurements()))
}

// heldOut compares predictions with what was measured, fold by fold; nothing of a
// single point.
func heldOut(l *activelearn.Ledger, c campaign.Conclusion) (learner.HeldOut, error) {
	if l.PointsMeasured() < 2 {
		return learner.HeldOut{}, nil
	}
	return learner.CrossValidate(l.Measurements(), c.Spec.Folds, c.Spec.Seed, c.Learner)
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
			Selected: alg.String(), Even: c.Even(row.Point),
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

func algorithmFacts(p campaign.Problem, res campaign.Result, c campaign.Conclusion, held learner.HeldOut) []AlgorithmFacts {
	measured, selected := map[coll.Algorithm]int{}, map[coll.Algorithm]int{}
	for _, m := range res.Ledger.Measurements() {
		measured[m.Algorithm]++
	}
	for _, row := range c.Rows {
		selected[c.Selection.Choose(row.Point)]++
	}
	barred := map[coll.Algorithm]int{}
	for _, candidate := range res.Ledger.Space().Candidates() {
		if c.Barred().Has(candidate) {
			barred[candidate.Algorithm]++
		}
	}
	var out []AlgorithmFacts
	for _, alg := range res.Ledger.Space().Algorithms() {
		f := AlgorithmFacts{Name: alg.String(), Measured: measured[alg], Selected: selected[alg], Barred: barred[alg]}
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

// barredInWords says which algorithms are not selected somewhere since they failed.
func barredInWords(algorithms []AlgorithmFacts) []string {
	var out []string
	for _, a := range algorithms {
		if a.Barred > 0 {
			out = append(out, fmt.Sprintf("%s is not selected at %d points: it was given up there, or failed wherever it was tried in the layout or range of sizes", a.Name, a.Barred))
		}
	}
	return out
}
