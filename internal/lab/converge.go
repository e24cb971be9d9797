package lab

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"tutti/activelearn"
	"tutti/campaign"
	"tutti/coll"
	"tutti/preprocess"
)

// Section V-C of the paper: criteria of an average slowdown below 1.02, and a
// budget of 22.2 of the 36 minutes that convergence takes.
const (
	budgetSlowdown = 1.02
	budgetShare    = 22.2 / 36
)

// shortBudget is a campaign whose machine time ends before it converges.
type shortBudget struct {
	set     Set
	seed    uint64
	result  campaign.Result
	at      int     // the evaluation that converged
	seconds float64 // machine time until then
	budget  float64 // part of it
}

var errNoneConverges = errors.New("no data set converges to an average slowdown below 1.02 before everything is measured")

// slowest runs FACT on every set until the average slowdown is below
// budgetSlowdown and returns the set that takes the largest part of the time to
// measure all of it.
func slowest(ctx context.Context, sets []Set, seed uint64, opt Options) (shortBudget, error) {
	opt.Scaling = preprocess.AlgorithmLog10
	opt.ToShare = 0
	opt.Criteria = activelearn.Criteria{Slowdown: budgetSlowdown, Mistakes: 1, Patience: opt.Criteria.Patience}
	type run struct {
		shortBudget
		share     float64
		converged bool
	}
	runs, err := inOrder(ctx, opt.Workers, len(sets), func(ctx context.Context, i int) (run, error) {
		r := run{shortBudget: shortBudget{set: sets[i], seed: seed}}
		exhaustive, err := sets[i].Exhaustive(opt.Launch, opt.Nodes)
		if err != nil {
			return r, err
		}
		if r.result, err = (entry{sets[i], "uncertainty", seed}).replayed(ctx, opt); err != nil {
			return r, err
		}
		r.at, r.converged = convergence(r.result.Evaluations, opt.Criteria)
		r.seconds = r.result.Evaluations[r.at].MachineSeconds
		r.budget, r.share = budgetShare*r.seconds, r.seconds/exhaustive
		return r, nil
	}, nil)
	if err != nil {
		return shortBudget{}, err
	}
	last := run{}
	for _, r := range runs {
		if r.converged && r.share > last.share {
			last = r
		}
	}
	if !last.converged {
		return shortBudget{}, errNoneConverges
	}
	return last.shortBudget, nil
}

// training is what the budget pays for: whole points, as the strategy asked for.
func (b shortBudget) training() []coll.Measurement {
	ms := b.result.Ledger.Measurements()
	sum, paid := 0.0, 0
	for i, m := range ms {
		if sum += m.CostSeconds; sum > b.budget {
			break
		}
		if i == len(ms)-1 || ms[i+1].Point != m.Point {
			paid = i + 1
		}
	}
	return ms[:paid]
}

// lastWithin is the last evaluation that the budget pays for.
func (b shortBudget) lastWithin() (activelearn.Evaluation, bool) {
	var last activelearn.Evaluation
	for _, e := range b.result.Evaluations {
		if e.MachineSeconds <= b.budget {
			last = e
		}
	}
	return last, last.Round > 0
}

// seconds rounds to what a label has room for.
func seconds(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64) + " s"
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + " s"
}

// fig10 is the convergence of one set: average slowdown against machine time.
func fig10(ctx context.Context, sets []Set, seeds []uint64, opt Options) (Figure, error) {
	b, err := slowest(ctx, sets, seeds[0], opt)
	if err != nil {
		return Figure{}, err
	}
	f := Figure{
		Title:  fmt.Sprintf("Convergence of %s, seed %d", b.set.name(), b.seed),
		Header: []string{"data", "seed", "machine_seconds", "point_share", "slowdown", "event"},
	}
	within, _ := b.lastWithin()
	line := series{name: "uncertainty, algorithm_log10", plain: true}
	for i, e := range b.result.Evaluations {
		event := ""
		switch {
		case i == b.at:
			event = "converged"
		case e.Round == within.Round:
			event = "budget ends"
		}
		f.Rows = append(f.Rows, []string{
			b.set.name(), strconv.FormatUint(b.seed, 10), number(e.MachineSeconds), number(e.CandidateShare), number(e.Slowdown), event,
		})
		line.add(e.MachineSeconds, averages{mean: e.Slowdown, low: e.Slowdown, high: e.Slowdown, runs: 1})
	}
	f.panels = []panel{{
		x: "machine time, s", y: "average slowdown", ideal: 1, series: []series{line},
		across: []rule{{at: budgetSlowdown, label: "criterion " + number(budgetSlowdown)}},
		down: []rule{
			{at: b.budget, label: "budget ends, " + seconds(b.budget)},
			{at: b.seconds, label: "converged, " + seconds(b.seconds)},
		},
	}}
	return f, nil
}
