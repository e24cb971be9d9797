package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"tutti/activelearn"
	"tutti/campaign"
	"tutti/coll"
	"tutti/hpo"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// Numbers from section V-C of Wilkins et al. (ExaMPI 2021). Their stopping criterion is an average slowdown below
// 1.02. Their budget is 22.2 of the 36 minutes until this criterion holds.
const (
	budgetSlowdown = 1.02
	budgetShare    = 22.2 / 36
)

// budgetedCampaign is a replay of the method of Wilkins et al. (FACT), with a budget that ends before
// convergence.
type budgetedCampaign struct {
	set    Set
	seed   uint64
	result campaign.Result
	budget float64 // machine time, seconds
}

var errNoneConverges = errors.New("no data set converges to an average slowdown below 1.02 before everything is measured")

// slowestCampaign replays the published method FACT (uncertainty sampling) on every data set until the average
// slowdown is below budgetSlowdown. It divides the machine time of each replay by the time of measuring all
// candidates. It returns the replay with the largest quotient.
func slowestCampaign(ctx context.Context, sets []Set, seed uint64, opt Options) (budgetedCampaign, error) {
	opt.Scaling = preprocess.AlgorithmLog10
	opt.Criteria = activelearn.Criteria{Slowdown: budgetSlowdown, Mistakes: 1, Patience: opt.Criteria.Patience}
	type run struct {
		budgetedCampaign
		share float64 // 0 without convergence
	}
	runs, err := inOrder(ctx, opt.Workers, sets, func(ctx context.Context, s Set) (run, error) {
		r := run{budgetedCampaign: budgetedCampaign{set: s, seed: seed}}
		exhaustive, err := s.Exhaustive(opt.Launch)
		if err != nil {
			return r, err
		}
		var converged bool
		if r.result, converged, err = (entry{s, "uncertainty", seed}).replayed(ctx, opt); err != nil {
			return r, err
		}
		seconds := r.result.Evaluations[len(r.result.Evaluations)-1].MachineSeconds
		r.budget = budgetShare * seconds
		if converged {
			r.share = seconds / exhaustive
		}
		return r, nil
	})
	if err != nil {
		return budgetedCampaign{}, err
	}
	slowest := run{}
	for _, r := range runs {
		if r.share > slowest.share {
			slowest = r
		}
	}
	if slowest.share == 0 {
		return budgetedCampaign{}, errNoneConverges
	}
	return slowest.budgetedCampaign, nil
}

// trainingSet returns the measurements that fit into the budget. It leaves out points at which not all
// algorithms are measured.
func (b budgetedCampaign) trainingSet() []coll.Measurement {
	ms := b.result.Ledger.Measurements()
	sum, complete := 0.0, 0
	for i, m := range ms {
		if sum += m.CostSeconds; sum > b.budget {
			break
		}
		if i == len(ms)-1 || ms[i+1].Point != m.Point {
			complete = i + 1
		}
	}
	return ms[:complete]
}

// fig10 draws figure 10: the average slowdown of slowestCampaign against its machine time, with its criterion and the
// end of its budget.
func fig10(ctx context.Context, sets []Set, seeds []uint64, opt Options) (Figure, error) {
	b, err := slowestCampaign(ctx, sets, seeds[0], opt)
	if err != nil {
		return Figure{}, err
	}
	f := Figure{
		Title:  fmt.Sprintf("Convergence of %s, seed %d", b.set.name(), b.seed),
		Header: []string{"data", "seed", "machine_seconds", "measured_share", "slowdown", "within_budget"},
	}
	line := Series{Name: "uncertainty, algorithm_log10"}
	for _, e := range b.result.Evaluations {
		f.Rows = append(f.Rows, []string{
			b.set.name(), strconv.FormatUint(b.seed, 10), number(e.MachineSeconds), number(e.CandidateShare), number(e.Slowdown),
			strconv.FormatBool(e.MachineSeconds <= b.budget),
		})
		line.Add(e.MachineSeconds, e.Slowdown)
	}
	f.Panels = []Panel{{
		X: "machine time, s", Y: "average slowdown", Ideal: 1, Series: []Series{line},
		limits: []limit{
			{at: budgetSlowdown, label: "criterion " + number(budgetSlowdown)},
			{at: b.budget, label: "budget ends, " + number(b.budget) + " s", vertical: true},
		},
	}}
	return f, nil
}

// publishedSlowdowns maps iterations to the average slowdowns in table IV of Wilkins et al. (ExaMPI 2021).
// Their study has 20 iterations.
var publishedSlowdowns = map[int]float64{1: 1.04, 2: 1.057, 20: 1.019}

const (
	table4Trials = 20
	table4Folds  = 5 // folds of the cross-validation, as in a campaign
)

// table4 draws table IV: it tunes the hyperparameters of forests that learn from the measurements of
// slowestCampaign within its budget.
func table4(ctx context.Context, sets []Set, seeds []uint64, opt Options) (Figure, error) {
	b, err := slowestCampaign(ctx, sets, seeds[0], opt)
	if err != nil {
		return Figure{}, err
	}
	trials, err := tuneForests(ctx, b.set, b.trainingSet(), opt.learner(preprocess.AlgorithmLog10, b.seed), b.seed)
	if err != nil {
		return Figure{}, err
	}
	f := Figure{
		Title: fmt.Sprintf("Hyperparameters of %s, seed %d, %.3g s of machine time", b.set.name(), b.seed, b.budget),
		Header: []string{
			"iteration", "cross_validated", "true_slowdown", "chosen_true_slowdown", "paper",
			"trees", "criterion", "max_depth", "min_split", "min_leaf",
		},
	}
	objective, truth := Series{Name: "cross-validated"}, Series{Name: "true"}
	chosen, paper := Series{Name: "true, best cross-validated so far"}, Series{Name: "paper, table IV"}
	best := trials[0]
	for i, t := range trials {
		if t.objective < best.objective {
			best = t
		}
		n := i + 1
		published := ""
		if v, ok := publishedSlowdowns[n]; ok {
			published = number(v)
			paper.Add(float64(n), v)
		}
		objective.Add(float64(n), t.objective)
		truth.Add(float64(n), t.slowdown)
		chosen.Add(float64(n), best.slowdown)
		p := t.params
		f.Rows = append(f.Rows, []string{
			strconv.Itoa(n), number(t.objective), number(t.slowdown), number(best.slowdown), published,
			strconv.Itoa(p.Trees), p.Criterion, strconv.Itoa(p.MaxDepth), strconv.Itoa(p.MinSplit), strconv.Itoa(p.MinLeaf),
		})
	}
	f.Panels = []Panel{{
		X: "iteration", Y: "average slowdown", Ideal: 1, Series: []Series{objective, truth, chosen, paper},
	}}
	return f, nil
}

type forestTrial struct {
	params    hpo.ForestParams
	objective float64 // average slowdown, cross-validated on the training set
	slowdown  float64 // average slowdown over the whole set
}

// tuneForests searches for hyperparameters with a low cross-validated slowdown.
func tuneForests(ctx context.Context, s Set, train []coll.Measurement, opt learner.Options, seed uint64) ([]forestTrial, error) {
	opt.Allowed.Mistakes = math.Inf(1) // the paper's objective is the slowdown alone
	study := campaign.ForestStudy(s.data(train), table4Folds, seed, opt)
	trials, err := hpo.Forest(ctx, hpo.Spec{Trials: table4Trials, Seed: seed}, study)
	if err != nil {
		return nil, err
	}
	var out []forestTrial
	for _, t := range trials {
		if t.State != hpo.Complete {
			return nil, fmt.Errorf("iteration %d ended as %s", t.Number+1, t.State)
		}
		with, err := campaign.WithParams(opt, t.Params)
		if err != nil {
			return nil, err
		}
		q, err := qualityOf(s, train, with)
		if err != nil {
			return nil, err
		}
		out = append(out, forestTrial{params: t.Params, objective: *t.Value, slowdown: q.Slowdown})
	}
	return out, nil
}
