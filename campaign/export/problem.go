package export

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"tutti/activelearn"
	"tutti/campaign"
	"tutti/coll"
	"tutti/hpo"
	"tutti/report"
	"tutti/surrogate/learner"
)

// ProblemFacts returns what the report shows of a problem. It fits the model
// Spec.Folds times for the cross-validation.
func ProblemFacts(c campaign.FinalSelection) (report.ProblemFacts, error) {
	res, l := c.Result, c.Result.Ledger
	validation, err := crossValidate(c)
	if err != nil {
		return report.ProblemFacts{}, err
	}
	f := report.ProblemFacts{
		Library: c.Library, Collective: string(c.Collective),
		Stop: string(res.Stop), Rounds: res.Rounds,
		Points: len(l.Space().Points()), PointsMeasured: l.PointsMeasured(),
		Candidates: l.Space().Size(), Trials: l.Trials(), Failed: l.Failed(), Replicates: len(l.Replicates()),
		MachineSeconds: l.CostSeconds(), NodeSeconds: l.NodeSeconds(),
		Curve:      curveOf(res.Evaluations),
		Algorithms: algorithmFacts(c, validation),
		HPO:        studyFacts(res.Study),
		HeldOut:    res.Study.Comparison,
		Leaves:     c.Selection.Leaves, TreeLoss: worstLoss(c),
		Warnings: res.Warnings,
		Model:    string(c.Learner.Model),
		Weights:  weightFacts(c.Problem),
		Noise:    c.Noise(), NotGuarded: c.Unguarded(),
	}
	if c.ExhaustiveSeconds != nil {
		f.ExhaustiveSeconds = c.ExhaustiveSeconds(l.Space().Candidates())
	}
	left, err := c.Unconfirmed()
	if err != nil {
		return f, err
	}
	if left.Points > 0 {
		f.Unconfirmed = &left
	}
	f.Warnings = append(slices.Clip(f.Warnings), excludedTexts(f.Algorithms)...)
	if c.Learner.Model == learner.Forest {
		f.Forest = forestFacts(campaign.ParamsOf(c.Learner.Forest))
	}
	for i, earlier := range c.Earlier {
		f.Compared = append(f.Compared, compare(c.EarlierNames[i], earlier, l.Measurements()))
	}
	if f.Cells, err = Cells(c); err != nil {
		return f, err
	}
	ties := 0
	for _, cell := range f.Cells {
		if cell.DefaultKept {
			f.DefaultKept++
		}
		if cell.Tie {
			ties++
		}
	}
	if c.HasPosterior() {
		f.Ties = &ties
	}
	if f.Scores, err = scores(knownTimesOf(c, c.Truth), c); err != nil {
		return f, err
	}
	f.Unsafe, err = unsafeFacts(c)
	return f, err
}

// crossValidate compares predictions with measurements that were left out of the training. The result is
// empty if only one point was measured.
func crossValidate(c campaign.FinalSelection) (learner.Validation, error) {
	if c.Result.Ledger.PointsMeasured() < 2 {
		return learner.Validation{}, nil
	}
	return learner.CrossValidate(c.Data, c.Spec.Folds, c.Spec.Seed, c.Learner)
}

// Cells describes the selection at every grid point. Slowdowns follow from the true times if all of them are known,
// otherwise from predictions.
func Cells(c campaign.FinalSelection) ([]report.Cell, error) {
	k, overlaps := knownTimesOf(c, c.Truth), overlapsOf(c.Result.Ledger.Measurements())
	out := []report.Cell{}
	for i, row := range c.Rows {
		alg := c.Selection.Choose(row.Point)
		guard := c.GuardResult(i)
		cell := report.Cell{
			Point:              row.Point,
			MeasuredAlgorithms: k.measured[row.Point],
			Algorithm:          alg.String(), Guard: string(guard), DefaultKept: alg.IsDefault() && guard == activelearn.Tie,
		}
		slowdown := func(a coll.Algorithm) *float64 {
			if s, ok := k.slowdown(row.Point, a); ok && k.complete {
				return &s
			}
			if loss, ok := row.Loss(a); ok && !k.complete {
				return new(1 + loss)
			}
			return nil
		}
		cell.Slowdown, cell.DefaultSlowdown = slowdown(alg), slowdown(coll.Default)
		cell.Overlap = overlaps[coll.Candidate{Point: row.Point, Algorithm: alg}]
		cell.DefaultOverlap = overlaps[coll.Candidate{Point: row.Point, Algorithm: coll.Default}]
		if k.complete {
			cell.Best = k.fastest[row.Point].Algorithm.String()
		} else {
			cell.Risk, cell.PSlower = rounded(c.Risk(row.Point)), rounded(c.PSlower(row.Point, report.SlowerTolerance))
		}
		out = append(out, cell)
	}
	return out, addTies(out, c)
}

// overlapsOf returns the overlap of each candidate that has one; the last measurement counts.
func overlapsOf(measured []coll.Measurement) map[coll.Candidate]*float64 {
	out := map[coll.Candidate]*float64{}
	for _, m := range measured {
		if share, ok := m.Overlap(); ok {
			out[m.Candidate] = new(rounded(share))
		}
	}
	return out
}

// rounded returns a share with four decimals, which keeps the report small.
func rounded(share float64) float64 { return math.Round(share*1e4) / 1e4 }

func worstLoss(c campaign.FinalSelection) float64 {
	worst := 0.0
	for _, row := range c.Rows {
		if loss, ok := row.Loss(c.Selection.Choose(row.Point)); ok {
			worst = max(worst, loss)
		}
	}
	return worst
}

func algorithmFacts(c campaign.FinalSelection, validation learner.Validation) []report.AlgorithmFacts {
	measured, selected := map[coll.Algorithm]int{}, map[coll.Algorithm]int{}
	for _, m := range c.Result.Ledger.Measurements() {
		measured[m.Algorithm]++
	}
	for _, row := range c.Rows {
		selected[c.Selection.Choose(row.Point)]++
	}
	excluded := map[coll.Algorithm]int{}
	for candidate := range c.Result.Ledger.Space().All() {
		if c.Excluded().Has(candidate) {
			excluded[candidate.Algorithm]++
		}
	}
	var out []report.AlgorithmFacts
	for _, alg := range c.Result.Ledger.Space().Algorithms() {
		f := report.AlgorithmFacts{Name: alg.String(), Measured: measured[alg], Selected: selected[alg], Excluded: excluded[alg]}
		if r2, err := validation.R2(alg); err == nil {
			f.R2 = &r2
		}
		for _, pair := range validation.Pairs {
			if pair.Algorithm == alg {
				f.Parity = append(f.Parity, report.Parity{Measured: pair.Measured, Predicted: pair.Predicted})
			}
		}
		out = append(out, f)
	}
	return out
}

func excludedTexts(algorithms []report.AlgorithmFacts) []string {
	var out []string
	for _, a := range algorithms {
		if a.Excluded > 0 {
			out = append(out, fmt.Sprintf("%s is not selected at %d points: it was given up there, or failed wherever it was tried in the layout or range of sizes", a.Name, a.Excluded))
		}
	}
	return out
}

// addTies marks the points of the report (cells) at which another algorithm may be as fast as the selected one.
// The rows of `c` must have the order of the cells. Models without a posterior give no ties.
func addTies(all []report.Cell, c campaign.FinalSelection) error {
	if !c.HasPosterior() {
		return nil
	}
	uncertainties, err := c.Uncertainties()
	if err != nil {
		return err
	}
	cells := make(map[coll.Point]*report.Cell, len(c.Rows))
	for i, row := range c.Rows {
		cells[row.Point] = &all[i]
	}
	for _, d := range uncertainties {
		cell := cells[d.Point]
		switch cell.Algorithm {
		case d.Choice.String():
			cell.Rival = d.Rival.String()
		case d.Rival.String():
			cell.Rival = d.Choice.String()
		default:
			continue
		}
		cell.Tie, cell.PMistake = d.Tie, &d.PMistake
	}
	return nil
}

func studyFacts(s hpo.Study) []report.HPOTrial {
	var out []report.HPOTrial
	for i, t := range s.Trials {
		h := report.HPOTrial{Number: t.Number, State: string(t.State), Value: t.Value, Params: forestFacts(t.Params)}
		if best, ok := hpo.Best(s.Trials[:i+1]); ok {
			h.Best = best.Value
		}
		out = append(out, h)
	}
	return out
}

func forestFacts(p hpo.ForestParams) []report.Param {
	whole := func(name string, v int) report.Param { return report.Param{Name: name, Value: strconv.Itoa(v)} }
	return []report.Param{
		whole("trees", p.Trees), {Name: "criterion", Value: p.Criterion}, whole("max_depth", p.MaxDepth),
		whole("min_split", p.MinSplit), whole("min_leaf", p.MinLeaf),
	}
}
