package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/coll"
	"tutti/journal"
)

// ErrLog is matched by errors about log records that this campaign cannot have written.
var ErrLog = errors.New("the log does not fit the campaign")

// run is the state of one problem while a campaign tunes it.
type run struct {
	spec     Spec
	problem  Problem
	past     *journal.ProblemState // state of the problem in the log; empty for a new campaign
	log      Log                   // may be nil
	observe  func(Event)           // may be nil
	strategy activelearn.Strategy
	models   *activelearn.Models
	rule     *activelearn.StopRule
	trials   trials
	result   Result
	began    time.Time
	restored int                // number of trials from the log
	before   float64            // machine time of these trials in seconds
	until    time.Time          // no launch begins afterwards; zero for no limit
	budget   benchrunner.Budget // of a round of confirmation

	evaluation activelearn.Evaluation  // of the latest round
	launching  map[coll.Candidate]bool // candidates whose machine time includes a launch
	confirming bool                    // confirmation has begun
	confirmed  float64                 // machine time of confirmation in seconds
	observed   *bool                   // whether the observer ends the campaign; nil without an observer
	submitted  map[string]bool         // names of jobs that are submitted and have not ended
}

// Run tunes one problem: it learns, confirms what the files may select, and makes the hyperparameter study. past is
// the state of the problem in the log of an interrupted campaign, or nil for a new campaign. Both log and observe may
// be nil.
//
// A failed trial is a result, not an error. If ctx is cancelled, Run returns ctx.Err() and the Result so
// far, with Stop set to Cancelled. All trials that have ended are then in the log. The error matches ErrLog
// if records contradict the campaign. Other errors come from the log, from an unavailable runner or from a
// wrong Spec.
func Run(ctx context.Context, spec Spec, p Problem, past *journal.ProblemState, log Log, observe func(Event)) (Result, error) {
	t, err := Learn(ctx, spec, p, past, log, observe)
	if err == nil {
		err = Confirm(ctx, spec, []*Tuning{t}, 1)
	}
	if err == nil {
		err = t.Finish(ctx)
	}
	return t.Result(), err
}

// Tuning is a problem that a campaign tunes. Learn, Confirm and Finish are its steps.
type Tuning struct{ run *run }

// Result returns the result so far.
func (t *Tuning) Result() Result {
	if t == nil {
		return Result{}
	}
	return t.run.result
}

// Learn measures until the stopping rule ends the campaign. The arguments and errors are those of Run.
func Learn(ctx context.Context, spec Spec, p Problem, past *journal.ProblemState, log Log, observe func(Event)) (*Tuning, error) {
	r, err := newRun(spec, p)
	if err != nil {
		return nil, err
	}
	r.past, r.log, r.observe = cmp.Or(past, r.past), log, observe
	return &Tuning{r}, r.learn(ctx)
}

// learn measures until the stopping rule ends learning, and writes the reason into the log.
func (r *run) learn(ctx context.Context) (err error) {
	r.result.Stop, err = r.loop(ctx)
	if err != nil {
		return r.failed(ctx, fmt.Errorf("round %d: %w", r.result.Rounds, err))
	}
	if r.stopped() == "" {
		return r.append(journal.Record{Kind: journal.KindStop, Stop: string(r.result.Stop)})
	}
	return nil
}

// Finish makes the hyperparameter study.
func (t *Tuning) Finish(ctx context.Context) (err error) {
	t.run.explainStop()
	if t.run.result.Study, err = t.run.study(ctx); err != nil {
		return t.run.failed(ctx, fmt.Errorf("hyperparameter study: %w", err))
	}
	t.run.report(PhaseEnd)
	return nil
}

// explainStop adds a warning if points are left to the library, and one if the campaign stopped because of noise. It also
// adds one if a limit ended the campaign in a space that is too small for predictions.
func (r *run) explainStop() {
	if left := r.result.Ledger.LeftToLibrary(); len(left) > 0 {
		r.warn("%d of %d points are left to the library, because every algorithm or the default was given up there, for example %v", len(left), len(r.result.Ledger.Space().Points()), left[0])
	}
	noisy := r.result.Ledger.Noisy()
	switch {
	case r.result.Stop == activelearn.NoiseLimited && noisy > 0:
		r.warn("noise: %d candidates have no time, because it was too noisy each time", noisy)
	case r.result.Stop == activelearn.NoiseLimited:
		last := r.result.Evaluations[len(r.result.Evaluations)-1]
		r.warn("noise: if everything were measured and the fastest selected, %.1f %% of the choices would be mistakes", 100*last.MistakesAttainable)
	case r.rule.MeasuresAll() && r.result.Ledger.FreeCount() > 0:
		r.warn("%d points prove nothing about candidates without a measurement", len(r.problem.Space.Points()))
	}
}

// failed returns an error of the problem. If the run was cancelled, the stop reason becomes Cancelled.
func (r *run) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		r.result.Stop = activelearn.Cancelled
	}
	return fmt.Errorf("%s: %w", r.problem.Problem, err)
}

// newRun returns the state of a problem before its first round.
func newRun(spec Spec, p Problem) (*run, error) {
	if err := p.validate(spec); err != nil {
		return nil, err
	}
	spec = spec.forProblem(p)
	newStrategy := spec.NewStrategy
	if newStrategy == nil {
		newStrategy = func(opt activelearn.Options) (activelearn.Strategy, error) {
			return activelearn.New(spec.Strategy, opt)
		}
	}
	strategy, err := newStrategy(activelearn.Options{
		Seed: spec.Seed, Initial: spec.Initial, SharedLaunch: spec.sharedLaunch(p),
		Weight: p.weight(), Earlier: p.Earlier, Allowed: spec.allowed(),
	})
	if err != nil {
		return nil, err
	}
	ledger, launching := activelearn.NewLedger(p.Space), map[coll.Candidate]bool{}
	opt := activelearn.RuleOptions{
		Seed: spec.Seed, UsesPosterior: activelearn.UsesPosterior(spec.Strategy), Criteria: spec.Criteria, Limits: spec.Limits,
		Source: spec.CriteriaFrom, Metrics: spec.Metrics, Folds: spec.Folds, Reference: p.Truth, Weight: p.weight(),
		Merge: p.Merge, Bands: p.Bands, SharedLaunch: spec.sharedLaunch(p), Launching: launching,
	}
	if e, explains := strategy.(activelearn.Explainer); explains {
		opt.Reason = e.Reason
	}
	models := activelearn.NewModels(ledger, p.Earlier, spec.Learner)
	began := time.Now()
	return &run{
		spec: spec, problem: p, strategy: strategy, models: models, past: &journal.ProblemState{},
		rule:   activelearn.NewStopRule(opt, ledger, models),
		trials: newTrials(spec.Attempts),
		result: Result{Ledger: ledger},
		began:  began, until: spec.Limits.Until(began), submitted: map[string]bool{}, launching: launching,
	}, nil
}

// FirstBatch returns what a new campaign would measure in its first round. It measures nothing.
func FirstBatch(spec Spec, p Problem) (benchrunner.Batch, error) {
	r, err := newRun(spec, p)
	if err != nil {
		return benchrunner.Batch{}, err
	}
	candidates, err := r.ask(1)
	if err != nil {
		return benchrunner.Batch{}, fmt.Errorf("%s: %w", p.Problem, err)
	}
	return r.batch(1, candidates, nil), nil
}

// loop repeats the steps ask, measure, evaluate and grow until there is a stop reason, which it returns.
func (r *run) loop(ctx context.Context) (activelearn.StopReason, error) {
	for round := r.result.Rounds + 1; ; round++ {
		if _, known := r.past.Learning(round); !known {
			if stop := cmp.Or(r.stopped(), activelearn.Decide(r.progress())); stop != "" { // that of the log comes first
				return stop, nil
			}
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		r.result.Rounds = round
		batch, err := r.ask(round)
		if err != nil {
			return "", err
		}
		spent := r.result.Ledger.CostSeconds()
		if err := r.measure(ctx, round, batch); err != nil {
			return "", err
		}
		if logged, known := r.past.Learning(round); known && logged.Confirm {
			r.confirmed += r.result.Ledger.CostSeconds() - spent
		}
		if r.result.Ledger.CandidatesMeasured() == 0 {
			continue
		}
		if err := r.evaluate(round, r.logged(round)); err != nil {
			return "", err
		}
		if err := r.grow(round); err != nil {
			return "", err
		}
	}
}

// stopped returns the stop reason in the log. The result "" means that measuring has not stopped.
func (r *run) stopped() activelearn.StopReason { return activelearn.StopReason(r.past.Stop) }

// ask returns the batch of a round: retries, outliers to be measured again, second measurements (replicates), and
// new candidates from an audit or the strategy. If the log has a batch for the round, ask returns that batch.
func (r *run) ask(round int) ([]coll.Candidate, error) {
	ledger, retry := r.result.Ledger, r.trials.next()
	want := r.spec.Limits.Afford(ledger, time.Since(r.began), ledger.Trials()-r.restored, r.spec.Batch.Want(ledger.CandidatesMeasured()))
	s := activelearn.State{Round: round, Want: want, Ledger: ledger}
	if logged, known := r.past.Learning(round); known {
		batch, err := logged.Batch()
		if err != nil {
			return nil, err
		}
		addLoggedCandidates(ledger, batch)
		r.restoreStrategy(s, batch)
		return batch, r.trials.begin(ledger, batch)
	}
	if activelearn.UsesPosterior(r.spec.Strategy) && ledger.CandidatesMeasured() > 0 {
		var err error
		if s.Posterior, err = r.models.Posterior(); err != nil {
			return nil, err
		}
	}
	fresh := r.rule.Audit()
	if !r.rule.Auditing() && !r.rule.OnlyRemeasures() {
		var err error
		if fresh, err = r.strategy.Ask(s); err != nil {
			return nil, err
		}
	}
	outliers := r.rule.Outliers()
	batch := slices.Concat(retry, fresh, outliers, r.rule.Replicate(retry, fresh, outliers))
	rec := journal.Record{Kind: journal.KindBatch, Round: round, Batch: batch, Reasons: r.rule.Reasons(round, batch)}
	if err := r.append(rec); err != nil {
		return nil, err
	}
	return batch, r.trials.begin(ledger, batch)
}

// restoreStrategy restores the state that the strategy had after it chose a batch in the log. It ignores
// candidates that were already measured or pending, because the strategy did not choose them.
func (r *run) restoreStrategy(s activelearn.State, batch []coll.Candidate) {
	strategy, ok := r.strategy.(activelearn.Restorer)
	if !ok || r.rule.Auditing() {
		return
	}
	strategy.Restore(s, slices.DeleteFunc(slices.Clone(batch), func(c coll.Candidate) bool { return !s.Ledger.IsFree(c) }))
}

// addLoggedCandidates adds the candidates of a batch in the log to the space if they are missing there. Another version of
// tutti may have measured algorithms that this version's catalogue does not have.
func addLoggedCandidates(l *activelearn.Ledger, batch []coll.Candidate) {
	outside := map[coll.Candidate]bool{}
	for _, c := range batch {
		if !l.Space().Has(c) {
			outside[c] = true
		}
	}
	if len(outside) == 0 {
		return
	}
	l.Grow(l.Space().With(slices.Collect(maps.Keys(outside)), func(c coll.Candidate) error {
		if !outside[c] {
			return errNotRecorded
		}
		return nil
	}))
}

// measure takes the trials of a batch from the log if they are there, and lets the runner measure the other candidates.
func (r *run) measure(ctx context.Context, round int, batch []coll.Candidate) error {
	r.recordLaunches(batch)
	logged, known := r.past.Round(round)
	if !known {
		return r.runBatch(ctx, r.batch(round, batch, nil))
	}
	ended := map[coll.Candidate]bool{}
	for t, err := range logged.Trials() {
		if err != nil {
			return err
		}
		if err := r.trials.record(&r.result, t); err != nil {
			return fmt.Errorf("%w: %w", ErrLog, err)
		}
		r.restored, r.before = r.restored+1, r.before+t.CostSeconds
		ended[t.Candidate] = true
	}
	jobs := logged.Jobs()
	if logged.Cut != "" {
		r.trials.cut(&r.result, batch, logged.Cut)
		return nil
	}
	if logged.Done+logged.Failed == len(batch) && !slices.ContainsFunc(jobs, func(j coll.Job) bool { return j.State != coll.JobEnded }) {
		return nil
	}
	b := r.batch(round, batch, ended)
	b.Jobs = jobs
	return r.runBatch(ctx, b)
}

// runBatch lets the runner measure a batch. If a limit ends the round, the log gets a record of it.
func (r *run) runBatch(ctx context.Context, b benchrunner.Batch) error {
	b.Until, b.Budget = r.until, r.budget
	if !r.confirming {
		b.Budget = budgetOf(r.spec.Limits, r.result.Ledger.CostSeconds(), r.result.Ledger.NodeSeconds())
	}
	err := r.problem.Runner.Run(ctx, b, roundLog{r, b.Round})
	if !errors.Is(err, benchrunner.ErrTimeUp) {
		return err
	}
	why := err.Error()
	if err := r.append(journal.Record{Kind: journal.KindCut, Round: b.Round, Note: why}); err != nil {
		return err
	}
	var batch []coll.Candidate
	for _, request := range b.Requests {
		batch = append(batch, request.Candidate)
	}
	r.trials.cut(&r.result, batch, why)
	return nil
}

// budgetOf returns what is left of the limits on machine time and node-seconds after a part was used.
func budgetOf(limits activelearn.Limits, machineSeconds, nodeSeconds float64) benchrunner.Budget {
	left := func(limit, used float64) float64 {
		if limit <= 0 {
			return 0
		}
		return max(limit-used, math.SmallestNonzeroFloat64)
	}
	return benchrunner.Budget{MachineSeconds: left(limits.MachineSeconds, machineSeconds), NodeSeconds: left(limits.NodeSeconds, nodeSeconds)}
}

// recordLaunches records in r.launching which candidate of a batch each launch measures first.
func (r *run) recordLaunches(batch []coll.Candidate) {
	key, seen := r.spec.sharedLaunch(r.problem), map[any]bool{}
	for _, c := range batch {
		launch := any(c)
		if key != nil {
			launch = key(c)
		}
		r.launching[c], seen[launch] = r.launching[c] || !seen[launch], true
	}
}

// batch returns the batch of a round for a runner. The trials of the candidates in `ended` are already in the log.
func (r *run) batch(round int, candidates []coll.Candidate, ended map[coll.Candidate]bool) benchrunner.Batch {
	b := benchrunner.Batch{
		Label:    r.problem.Library + "-" + string(r.problem.Collective),
		Round:    round,
		Requests: make([]benchrunner.Request, len(candidates)),
	}
	for i, c := range candidates {
		b.Requests[i] = benchrunner.Request{Candidate: c, Attempt: r.trials.count(r.result.Ledger, c) + 1, Ended: ended[c]}
	}
	return b
}

// progress returns the state of the campaign for activelearn.Decide. An observer's decision replaces the criteria.
func (r *run) progress() activelearn.Progress {
	p := r.rule.Progress(time.Since(r.began), len(r.trials.retry))
	p.Observed, p.Open = r.observed, r.trials.open()
	return p
}

// evaluate ends a round, of which the log has the given parts: it evaluates the selection and plans the next round, as the
// stopping rule does.
func (r *run) evaluate(round int, logged activelearn.Logged) error {
	eval, ok, err := r.rule.Round(round, len(r.trials.retry), logged)
	if err != nil {
		return err
	}
	if ok && logged.Evaluation == nil {
		if err := r.append(journal.Record{Kind: journal.KindEvaluation, Round: round, Evaluation: &eval}); err != nil {
			return err
		}
	}
	r.evaluation, r.result.Evaluations = eval, r.rule.Evaluations()
	r.report(PhaseMeasure)
	if r.problem.Observer == nil {
		return nil
	}
	end := false
	if ok {
		p := r.progress()
		p.Observed = nil
		converged := activelearn.Decide(p) == activelearn.Converged
		end, err = r.problem.Observer.Evaluated(eval, converged, r.rule.Selected)
	}
	r.observed = &end
	return err
}

// logged returns what the log has of a round.
func (r *run) logged(round int) activelearn.Logged {
	next, known := r.past.Learning(round + 1)
	_, later := r.past.Learning(round + 2)
	out := activelearn.Logged{Evaluation: r.evaluated(round), NextRound: known, Later: later || r.evaluated(round+1) != nil}
	if known && next.Reasons != nil {
		out.Outliers = next.Reasons.Outliers
	}
	return out
}

// evaluated returns the evaluation of a round in the log, or nil if there is none.
func (r *run) evaluated(round int) *activelearn.Evaluation {
	if logged, known := r.past.Learning(round); known {
		return logged.Evaluation
	}
	return nil
}

func (r *run) warn(format string, args ...any) {
	r.result.Warnings = append(r.result.Warnings, fmt.Sprintf(format, args...))
}

// append writes a record of the problem into the log.
func (r *run) append(rec journal.Record) error {
	if r.log == nil {
		return nil
	}
	rec.Problem = r.problem.Problem
	return r.log.Append(rec)
}

// report sends an event that says which phase of the campaign begins.
func (r *run) report(phase Phase) {
	if r.observe != nil {
		r.observe(Event{Problem: r.problem.Problem, Evaluation: r.evaluation, Stop: r.result.Stop, Phase: phase, Jobs: len(r.submitted)})
	}
}
