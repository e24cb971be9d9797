package campaign

import (
	"context"
	"fmt"
	"math"
	"time"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/journal"
	"tutti/selection"
	"tutti/surrogate/learner"
)

// Confirm measures pairs (see activelearn.Pair) of several problems after learning, so that the guard can pass. Pairs
// of all problems compete for one budget: Spec.Confirm of the machine time of learning. A pair is bought if it adds
// at least the share confirmRate of the gain per second that learning has brought. Each round spends at most the
// share confirmRound of the budget, because its measurements correct the predictions for the next one.
//
// The rounds follow from the measurements alone, so a restored campaign has the same ones. Confirm does nothing
// without Spec.Guard. At most `workers` problems measure at the same time. Errors are those of Run. Spec.Limits.Wall
// is the time that remains for confirmation.
func Confirm(ctx context.Context, spec Spec, all []*Tuning, workers int) error {
	if !spec.Guard {
		return nil
	}
	m := market{spec: spec, all: all, workers: workers, began: time.Now()}
	for _, t := range all {
		t.run.until = spec.Limits.Until(m.began)
	}
	for more := spec.Confirm > 0; more; {
		var err error
		if more, err = m.round(ctx); err != nil {
			return err
		}
	}
	return m.each(func(i int) error { return m.all[i].run.evaluateFiles() })
}

// market is the state of confirmation.
type market struct {
	spec    Spec
	all     []*Tuning
	workers int
	began   time.Time

	opened bool
	rate   float64 // least gain per second of machine time
	budget float64 // seconds of machine time, for all rounds
	spent  float64 // seconds of machine time before confirmation
}

// round measures one round of pairs. It returns false if nothing remains to be measured.
func (m *market) round(ctx context.Context) (more bool, err error) {
	if m.limitReached() {
		return false, nil
	}
	markets, gains := make([]activelearn.Market, len(m.all)), make([]float64, len(m.all))
	err = m.each(func(i int) (err error) {
		markets[i], gains[i], err = m.all[i].run.market()
		return err
	})
	if err != nil {
		return false, err
	}
	if !m.opened {
		m.open(floats.Sum(gains))
	}
	bought := activelearn.Buy(markets, m.rate, min(m.left(), confirmRound*m.budget))
	for i, t := range m.all {
		more = more || len(bought[i])+len(t.run.trials.retry) > 0
	}
	if !more {
		return false, nil
	}
	return true, m.each(func(i int) error { return m.all[i].run.confirm(ctx, bought[i]) })
}

// open sets the budget and the least rate of gain. gain is the predicted gain of the selections that were learned.
func (m *market) open(gain float64) {
	m.opened, m.spent = true, m.sum((*activelearn.Ledger).CostSeconds)
	m.budget = m.spec.Confirm * m.spent
	if m.spent == 0 { // recorded data without costs
		m.budget = math.Inf(1)
	}
	if limit := m.spec.Limits.MachineSeconds * float64(len(m.all)); limit > 0 {
		m.budget = max(0, min(m.budget, limit-m.spent))
	}
	if m.spent > 0 {
		m.rate = confirmRate * gain / m.spent
	}
}

// left returns the machine time that is left for confirmation, in seconds. A limit of node-seconds is converted with
// the average number of nodes so far.
func (m *market) left() float64 {
	seconds := m.sum((*activelearn.Ledger).CostSeconds)
	left := m.budget + m.spent - seconds
	if limit := m.spec.Limits.NodeSeconds * float64(len(m.all)); limit > 0 {
		used := m.sum((*activelearn.Ledger).NodeSeconds)
		left = min(left, (limit-used)*seconds/max(used, seconds))
	}
	return left
}

func (m *market) sum(of func(*activelearn.Ledger) float64) (sum float64) {
	for _, t := range m.all {
		sum += of(t.run.result.Ledger)
	}
	return sum
}

// limitReached reports whether the time is up. Rounds that are in the log do not count.
func (m *market) limitReached() bool {
	for _, t := range m.all {
		if _, logged := t.run.past.Round(t.run.result.Rounds + 1); logged {
			return false
		}
	}
	return m.spec.Limits.Wall > 0 && time.Since(m.began) >= m.spec.Limits.Wall
}

// each calls a function for each problem, at most `workers` at the same time.
func (m *market) each(do func(i int) error) error {
	var group errgroup.Group
	group.SetLimit(max(1, m.workers))
	for i := range m.all {
		group.Go(func() error { return do(i) })
	}
	return group.Wait()
}

// alternatives returns the alternatives according to all measurements, and their rows at all points.
func (r *run) alternatives() (activelearn.Alternatives, []selection.Row, error) {
	l, err := r.models.Fit()
	if err != nil {
		return activelearn.Alternatives{}, nil, fmt.Errorf("%s: %w", r.problem.Problem, err)
	}
	a := activelearn.NewAlternatives(l, r.result.Ledger)
	rows, err := a.Rows(r.result.Ledger.Space().Points())
	if err != nil {
		err = fmt.Errorf("%s: %w", r.problem.Problem, err)
	}
	return a, rows, err
}

// market returns the pairs of the problem, and the predicted gain of its unguarded selection over the default.
func (r *run) market() (activelearn.Market, float64, error) {
	if r.result.Ledger.CandidatesMeasured() == 0 {
		return activelearn.Market{}, 0, nil
	}
	a, rows, err := r.alternatives()
	if err != nil {
		return activelearn.Market{}, 0, err
	}
	m := a.Market(rows, activelearn.PairOptions{
		Weight: r.problem.weight(), SharedLaunch: r.spec.sharedLaunch(r.problem), Launching: r.launching, Earlier: r.problem.Earlier,
	})
	unguarded, err := activelearn.Fastest(rows)
	return m, activelearn.Gain(rows, unguarded.Choose, r.problem.weight()), err
}

// confirm measures pairs, and candidates of earlier rounds that failed. If the log has the round, its batch is used.
func (r *run) confirm(ctx context.Context, pairs []activelearn.Pair) error {
	round := r.result.Rounds + 1
	logged, known := r.past.Round(round)
	batch := r.trials.next()
	reasons := make([]activelearn.Reason, len(batch))
	for _, p := range pairs {
		for _, c := range p.Candidates {
			n := float64(len(p.Candidates))
			batch = append(batch, c)
			reasons = append(reasons, activelearn.Reason{Confirm: true, Gain: p.Gain / n, Seconds: p.Seconds / n})
		}
	}
	var err error
	switch {
	case known:
		batch, err = logged.Batch()
	case len(batch) == 0:
		return nil
	default:
		err = r.logPairs(round, batch, reasons)
	}
	if err != nil {
		return r.failed(ctx, err)
	}
	r.result.Rounds, r.confirming = round, true
	if err = r.trials.begin(r.result.Ledger, batch); err == nil {
		r.report(PhaseConfirm)
		err = r.measure(ctx, round, batch)
	}
	if err != nil {
		return r.failed(ctx, fmt.Errorf("round %d: %w", round, err))
	}
	return nil
}

// logPairs writes the batch of a round, and before the first one that confirmation begins.
func (r *run) logPairs(round int, batch []coll.Candidate, reasons []activelearn.Reason) error {
	if !r.confirming {
		if err := r.append(journal.Record{Kind: journal.KindConfirm, Round: round}); err != nil {
			return err
		}
	}
	return r.append(journal.Record{Kind: journal.KindBatch, Round: round, Batch: batch, Reasons: reasons})
}

// evaluateFiles predicts how good the selection of the files is, and writes it to the log. Without a posterior, or if
// the campaign has no evaluation, there is no prediction.
func (r *run) evaluateFiles() error {
	if r.past != nil && r.past.Files != nil {
		r.result.Files = r.past.Files
		return nil
	}
	if len(r.rule.Evaluations()) == 0 || r.spec.Learner.Model != learner.GaussianProcess {
		return nil
	}
	a, rows, err := r.alternatives()
	if err != nil {
		return err
	}
	e, ok, err := r.rule.EvaluateFiles(a, a.Guard(rows).Rows)
	if err != nil || !ok {
		return err
	}
	r.result.Files = &e
	return r.append(journal.Record{Kind: journal.KindFiles, Files: &e})
}
