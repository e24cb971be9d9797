package campaign

import (
	"context"
	"fmt"
	"math"
	"slices"
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
// of all problems compete for one budget: Spec.Confirm of the machine time of learning. A pair is bought if it is expected
// to add at least the share confirmRate of the gain per second that learning has brought. When none is left, problems
// go on whose missing pairs cause more than the allowed slowdown: with pairs that add less, and with Spec.Confirm of the
// share confirmShare of measuring everything if that budget is larger. Each round spends at most the share confirmRound of
// the budget, or buys one pair, because its measurements correct the predictions for the next one.
//
// What was measured scores the error models. Problems that had converged and no longer meet the criteria learn again,
// at most once. A second confirmation follows, with what is left of Spec.Confirm of the machine time of all learning.
//
// The rounds follow from the measurements alone, so a restored campaign has the same ones. Confirm does nothing
// without Spec.Guard. At most `workers` problems measure at the same time. Errors are those of Run. Spec.Limits.Wall
// is the time that remains for confirmation.
func Confirm(ctx context.Context, spec Spec, all []*Tuning, workers int) error {
	if !spec.Guard {
		return nil
	}
	m := market{spec: spec, all: all, workers: workers, began: time.Now()}
	m.first = m.began
	for _, t := range all {
		if t.run.began.Before(m.first) {
			m.first = t.run.began
		}
		t.run.until = spec.Limits.Until(m.began)
		t.run.began = m.began.Add(spec.learningLimits().Wall - t.run.spec.Limits.Wall) // of problems that learn again
	}
	again, err := m.confirm(ctx)
	if err == nil && len(again) > 0 {
		err = m.learn(ctx, again)
		if err == nil {
			_, err = m.confirm(ctx)
		}
	}
	if err != nil {
		return err
	}
	return m.each(func(i int) error { return m.all[i].run.evaluateFiles() })
}

// market is the state of confirmation.
type market struct {
	spec    Spec
	all     []*Tuning
	workers int
	began   time.Time
	first   time.Time // when the first problem began to learn

	opened bool
	rate   float64 // least gain per second of machine time
	budget float64 // seconds of machine time, for all rounds
	most   float64 // the budget while problems miss the criterion of slowdown, seconds
	spent  float64 // seconds of machine time before confirmation
}

// confirm measures rounds of pairs until none is worth its machine time, and evaluates the unguarded selections. It
// returns the problems that must learn again, unless problems have learned again before.
func (m *market) confirm(ctx context.Context) (again []int, err error) {
	m.opened = false
	for more := m.spec.Confirm > 0; more; {
		if more, err = m.round(ctx); err != nil {
			return nil, err
		}
	}
	if err = m.each(func(i int) error { return m.all[i].run.evaluateConfirmed() }); err != nil {
		return nil, err
	}
	for i, t := range m.all {
		if t.run.past.Reopened {
			return nil, nil
		}
		if t.run.mustLearn() {
			again = append(again, i)
		}
	}
	return again, nil
}

// learn lets problems learn again. All rounds of confirmation become rounds of learning.
func (m *market) learn(ctx context.Context, again []int) error {
	rec := journal.Record{Kind: journal.KindReopen}
	for _, i := range again {
		rec.Reopen = append(rec.Reopen, m.all[i].run.problem.Problem)
	}
	if log := m.all[0].run.log; log != nil {
		if err := log.Append(rec); err != nil {
			return err
		}
	}
	for i, t := range m.all {
		t.run.reopen(slices.Contains(again, i))
	}
	return m.each(func(i int) error {
		if r := m.all[i].run; slices.Contains(again, i) {
			return r.learnAgain(ctx)
		}
		return nil
	})
}

// round measures one round of pairs. It returns false if nothing remains to be measured.
func (m *market) round(ctx context.Context) (more bool, err error) {
	within := m.secondsInTime()
	if within <= 0 {
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
		m.open(floats.Sum(gains), markets)
	}
	bought := m.buy(markets, within)
	more = anyPair(bought) || slices.ContainsFunc(m.all, func(t *Tuning) bool { return len(t.run.trials.retry) > 0 })
	if !more {
		return false, nil
	}
	limits := budgetOf(m.limits(), m.sum((*activelearn.Ledger).CostSeconds), m.sum((*activelearn.Ledger).NodeSeconds))
	return true, m.each(func(i int) error {
		m.all[i].run.budget = limits
		return m.all[i].run.confirm(ctx, bought[i])
	})
}

// buy returns the pairs of the next round, for each problem, for at most so many seconds. If none brings the least rate of
// gain within the budget, only the problems count whose missing pairs cause more than the allowed slowdown. Their rate is
// halved until pairs are bought.
func (m *market) buy(markets []activelearn.Market, within float64) [][]activelearn.Pair {
	for i := range markets {
		markets[i].Rate = m.rate
	}
	left := min(m.left(m.budget), within)
	bought := activelearn.Buy(markets, min(left, confirmRound*m.budget), left)
	for i := range markets {
		if markets[i].Unconfirmed(len(m.all[i].run.result.Ledger.Space().Points())).Loss <= m.spec.Criteria.Slowdown-1 {
			markets[i].Pairs = nil
		}
	}
	left = min(m.left(m.most), within)
	for n := 0; n <= confirmHalvings && !anyPair(bought); n++ {
		bought = activelearn.Buy(markets, min(left, confirmRound*m.most), left)
		for i := range markets {
			markets[i].Rate /= 2
		}
	}
	return bought
}

func anyPair(bought [][]activelearn.Pair) bool {
	return slices.ContainsFunc(bought, func(pairs []activelearn.Pair) bool { return len(pairs) > 0 })
}

// open sets the budgets and the least rate of gain. gain is the predicted gain of the selections that were learned.
func (m *market) open(gain float64, markets []activelearn.Market) {
	m.opened, m.spent = true, m.sum((*activelearn.Ledger).CostSeconds)
	confirmed := 0.0
	for _, t := range m.all {
		confirmed += t.run.confirmed
	}
	learning, everything := m.spent-confirmed, m.spent
	for _, of := range markets {
		everything += of.Rest
	}
	allowed := math.Inf(1)
	if limit := m.limits().MachineSeconds; limit > 0 {
		allowed = limit - m.spent
	}
	budget := func(of float64) float64 {
		if m.spent == 0 { // recorded data without costs
			of = math.Inf(1)
		}
		return max(0, min(m.spec.Confirm*of-confirmed, allowed))
	}
	m.budget, m.most = budget(learning), budget(max(learning, confirmShare*everything))
	if m.spent > 0 {
		m.rate = confirmRate * gain / learning
	}
}

// left returns the machine time that is left of a budget of confirmation, in seconds. A limit of node-seconds is converted
// with the average number of nodes so far.
func (m *market) left(budget float64) float64 {
	seconds := m.sum((*activelearn.Ledger).CostSeconds)
	left := budget + m.spent - seconds
	if limit := m.limits().NodeSeconds; limit > 0 && seconds > 0 {
		used := m.sum((*activelearn.Ledger).NodeSeconds)
		left = min(left, (limit-used)*seconds/max(used, seconds))
	}
	return left
}

// limits returns the limits on machine time and node-seconds of all problems together.
func (m *market) limits() activelearn.Limits {
	n := float64(len(m.all))
	return activelearn.Limits{MachineSeconds: n * m.spec.Limits.MachineSeconds, NodeSeconds: n * m.spec.Limits.NodeSeconds}
}

func (m *market) sum(of func(*activelearn.Ledger) float64) (sum float64) {
	for _, t := range m.all {
		sum += of(t.run.result.Ledger)
	}
	return sum
}

// secondsInTime returns the machine time that a round may use within the wall time, in seconds, if the machine measures
// as much per second as it did since this process began to learn. There is no limit for a round that is in the log.
func (m *market) secondsInTime() float64 {
	for _, t := range m.all {
		if _, logged := t.run.past.Round(t.run.result.Rounds + 1); logged {
			return math.Inf(1)
		}
	}
	left, used := m.spec.Limits.Wall-time.Since(m.began), m.sum((*activelearn.Ledger).CostSeconds)
	for _, t := range m.all {
		used -= t.run.before
	}
	switch {
	case m.spec.Limits.Wall > 0 && left <= 0:
		return 0
	case m.spec.Limits.Wall <= 0 || used <= 0:
		return math.Inf(1)
	}
	return left.Seconds() * used / time.Since(m.first).Seconds()
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
	l, err := r.models.Learner()
	if err != nil {
		return activelearn.Alternatives{}, nil, fmt.Errorf("%s: %w", r.problem.Problem, err)
	}
	a, err := activelearn.NewAlternatives(l, r.result.Ledger).ForLayouts(r.problem.Bands)
	if err != nil {
		return activelearn.Alternatives{}, nil, fmt.Errorf("%s: %w", r.problem.Problem, err)
	}
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
	m, err := a.Market(rows, activelearn.PairOptions{
		Weight: r.problem.weight(), SharedLaunch: r.spec.sharedLaunch(r.problem), Launching: r.launching, Earlier: r.problem.Earlier,
	})
	if err != nil {
		return m, 0, fmt.Errorf("%s: %w", r.problem.Problem, err)
	}
	unguarded, err := activelearn.Fastest(rows)
	return m, activelearn.Gain(rows, unguarded.Choose, r.problem.weight()), err
}

// confirm measures pairs, and candidates of earlier rounds that failed. If the log has the round, its batch is used. Without
// pairs and failed candidates there is no round: the next one in the log belongs to a later round of the other problems.
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
	if len(batch) == 0 {
		return nil
	}
	var err error
	if known {
		batch, err = logged.Batch()
	} else {
		err = r.logPairs(round, batch, reasons)
	}
	if err != nil {
		return r.failed(ctx, err)
	}
	r.result.Rounds, r.confirming = round, true
	r.rule.SkipOutlierSearch()
	r.restoreStrategy(activelearn.State{Round: round, Ledger: r.result.Ledger}, batch)
	spent := r.result.Ledger.CostSeconds()
	if err = r.trials.begin(r.result.Ledger, batch); err == nil {
		r.report(PhaseConfirm)
		err = r.measure(ctx, round, batch)
	}
	r.confirmed += r.result.Ledger.CostSeconds() - spent
	if err != nil {
		return r.failed(ctx, fmt.Errorf("round %d: %w", round, err))
	}
	return nil
}

// logPairs writes the batch of a round, and before the first one that confirmation begins, unless the log says so.
func (r *run) logPairs(round int, batch []coll.Candidate, reasons []activelearn.Reason) error {
	if !r.confirming && r.past.Confirmation != round {
		if err := r.append(journal.Record{Kind: journal.KindConfirm, Round: round}); err != nil {
			return err
		}
	}
	return r.append(journal.Record{Kind: journal.KindBatch, Round: round, Batch: batch, Reasons: reasons})
}

// evaluateConfirmed evaluates the unguarded selection after the last round of confirmation, as after a round of learning.
func (r *run) evaluateConfirmed() error {
	if !r.confirming || r.result.Ledger.CandidatesMeasured() == 0 {
		return nil
	}
	logged, round := activelearn.Logged{}, r.result.Rounds
	if past, known := r.past.Round(round); known {
		logged = activelearn.Logged{Evaluation: past.Evaluation, Later: r.past.Files != nil}
	}
	if err := r.evaluate(round, logged); err != nil {
		return fmt.Errorf("%s: %w", r.problem.Problem, err)
	}
	return nil
}

// mustLearn reports whether learning had converged but the criteria no longer hold after confirmation, and whether a
// further round of learning is possible.
func (r *run) mustLearn() bool {
	return r.confirming && r.result.Stop == activelearn.Converged && !r.rule.MeetsCriteria() && activelearn.Decide(r.progress()) == ""
}

// reopen prepares the problem for another confirmation. If `learns` is true, its learning has not stopped.
func (r *run) reopen(learns bool) {
	r.confirming = false
	past := *r.past
	past.Reopen(learns)
	r.past = &past
	if learns {
		r.result.Stop = ""
	}
}

// learnAgain continues learning after the last round of confirmation.
func (r *run) learnAgain(ctx context.Context) error {
	if err := r.grow(r.result.Rounds); err != nil {
		return r.failed(ctx, fmt.Errorf("round %d: %w", r.result.Rounds, err))
	}
	return r.learn(ctx)
}

// evaluateFiles predicts how good the selection of the files is, and writes it to the log. Without a posterior, or if
// the campaign has no evaluation, there is no prediction.
func (r *run) evaluateFiles() error {
	if r.past.Files != nil {
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
