package lab

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"tutti/campaign"
	"tutti/coll"
	"tutti/hpo"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// Table IV of the paper: the average slowdown at the iterations it prints. Its
// study has 20 iterations.
var paperTable4 = map[int]float64{1: 1.04, 2: 1.057, 20: 1.019}

const (
	table4Trials = 20
	table4Folds  = 5 // of the cross-validation, as in a campaign
)

// table4 tunes the forests on the training set at which the budget of fig10 ends.
func table4(ctx context.Context, sets []Set, seeds []uint64, opt Options) (Figure, error) {
	b, err := slowest(ctx, sets, seeds[0], opt)
	if err != nil {
		return Figure{}, err
	}
	train := b.training()
	trials, err := tune(ctx, b.set, train, opt.learner(preprocess.AlgorithmLog10, b.seed), b.seed)
	if err != nil {
		return Figure{}, err
	}
	f := Figure{
		Title: fmt.Sprintf("Hyperparameters of %s, seed %d, %s of machine time", b.set.name(), b.seed, seconds(b.budget)),
		Header: []string{
			"iteration", "cross_validated", "true_slowdown", "chosen_true_slowdown", "paper",
			"trees", "criterion", "max_depth", "min_split", "min_leaf",
		},
	}
	objective, truth := series{name: "cross-validated"}, series{name: "true"}
	chosen, paper := series{name: "true, best cross-validated so far"}, series{name: "paper, table IV"}
	best := trials[0]
	for i, t := range trials {
		if t.objective < best.objective {
			best = t
		}
		n := i + 1
		printed := ""
		if v, ok := paperTable4[n]; ok {
			printed = number(v)
			paper.add(float64(n), single(v))
		}
		objective.add(float64(n), single(t.objective))
		truth.add(float64(n), single(t.slowdown))
		chosen.add(float64(n), single(best.slowdown))
		p := t.params
		f.Rows = append(f.Rows, []string{
			strconv.Itoa(n), number(t.objective), number(t.slowdown), number(best.slowdown), printed,
			strconv.Itoa(p.Trees), p.Criterion, strconv.Itoa(p.MaxDepth), strconv.Itoa(p.MinSplit), strconv.Itoa(p.MinLeaf),
		})
	}
	f.panels = []panel{{
		x: "iteration", y: "average slowdown", ideal: 1, legend: true, series: []series{objective, truth, chosen, paper},
		across: []rule{{at: budgetSlowdown, label: "criterion " + number(budgetSlowdown)}},
	}}
	return f, nil
}

func single(v float64) averages { return averages{mean: v, low: v, high: v, runs: 1} }

// tuned is one iteration of the study.
type tuned struct {
	params    hpo.ForestParams
	objective float64 // average slowdown, cross-validated on the training set
	slowdown  float64 // over the whole set
}

// tune looks for forests with a low cross-validated slowdown. Every iteration
// has a number, since no trial is cut short.
func tune(ctx context.Context, s Set, train []coll.Measurement, opt learner.Options, seed uint64) ([]tuned, error) {
	opt.Allowed.Mistakes = math.Inf(1) // the paper's objective is the slowdown alone
	study := campaign.ForestStudy(s.data(train), table4Folds, seed, opt)
	res, err := hpo.Forest(ctx, hpo.Spec{Trials: table4Trials, Seed: seed}, study)
	if err != nil {
		return nil, err
	}
	var out []tuned
	for _, t := range res.Trials {
		if t.State != hpo.Complete {
			return nil, fmt.Errorf("iteration %d ended as %s", t.Number+1, t.State)
		}
		p := t.Params
		with, err := campaign.WithParams(opt, p)
		if err != nil {
			return nil, err
		}
		q, err := qualityOf(s, train, with)
		if err != nil {
			return nil, err
		}
		out = append(out, tuned{params: p, objective: *t.Value, slowdown: q.Slowdown})
	}
	return out, nil
}
