package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/coll"
	"tutti/journal"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// ErrLog is matched by errors about records that the campaign cannot have written.
var ErrLog = errors.New("the log does not fit the campaign")

// run is the state of one problem while it is tuned.
type run struct {
	spec     Spec
	problem  Problem
	past     *journal.ProblemState // what the log knows of earlier runs, nil for nothing
	log      Log
	observe  func(Event)
	strategy activelearn.Strategy
	ledger   *activelearn.Ledger
	watch    *activelearn.Watch
	attempts map[coll.Candidate]int
	jobs     map[string]bool        // submitted and not ended
	retry    []coll.Candidate       // pending, for the next round: failed, or new in the space
	models   *models                // of the round before, for ByPrediction
	belief   *learner.Posterior     // formed last
	believed int                    // trials that belief is of; -1: of none yet
	looked   int                    // measurements that were looked at for what is incredible
	doubts   []coll.Candidate       // what is, for the next round
	doubted  map[coll.Candidate]int // what was: the round in which it is measured again
	result   Result
	began    time.Time
}

// Run tunes one problem. past is what the log knows of it from earlier runs of the
// same campaign, nil for a new one; log and observe may be nil.
//
// A failed trial is a result. Run returns ctx.Err() once ctx is cancelled, with
// the Result so far and Stop set to Cancelled; everything that ended is in the
// log by then. Records that contradict the campaign give an error matching ErrLog.
// Other errors come from the log, from a runner that is unavailable or from a
// broken Spec.
func Run(ctx context.Context, spec Spec, p Problem, past *journal.ProblemState, log Log, observe func(Event)) (Result, error) {
	r, err := newRun(spec, p)
	if err != nil {
		return Result{}, err
	}
	r.past, r.log, r.observe = past, log, observe
	stop, err := r.loop(ctx)
	r.result.Stop = stop
	if err != nil {
		if ctx.Err() != nil {
			r.result.Stop = activelearn.Cancelled
		}
		return r.result, fmt.Errorf("%s: round %d: %w", p.Problem, r.result.Rounds, err)
	}
	if r.stopped() == "" {
		if err := r.append(journal.Record{Kind: journal.KindStop, Stop: string(stop)}); err != nil {
			return r.result, err
		}
	}
	if r.result.Study, err = r.study(ctx); err != nil {
		if ctx.Err() != nil {
			r.result.Stop = activelearn.Cancelled
		}
		return r.result, fmt.Errorf("%s: hyperparameter study: %w", p.Problem, err)
	}
	r.tell(PhaseEnd)
	return r.result, nil
}

// newRun is a problem of which nothing is known yet.
func newRun(spec Spec, p Problem) (*run, error) {
	if err := p.validate(spec); err != nil {
		return nil, err
	}
	spec = spec.forProblem(p)
	opt := activelearn.Options{
		Seed: spec.Seed, Initial: spec.Initial, Launch: spec.Launch,
		Weights: p.Weights, Earlier: p.Earlier, Allowed: spec.allowed(),
	}
	newStrategy := spec.NewStrategy
	if newStrategy == nil {
		newStrategy = func(opt activelearn.Options) (activelearn.Strategy, error) {
			return activelearn.New(spec.Strategy, opt)
		}
	}
	strategy, err := newStrategy(opt)
	if err != nil {
		return nil, err
	}
	r := &run{
		spec: spec, problem: p,
		strategy: strategy,
		ledger:   activelearn.NewLedger(p.Space),
		watch:    activelearn.NewWatch(p.criteria(spec.Criteria), spec.Limits),
		attempts: map[coll.Candidate]int{},
		jobs:     map[string]bool{},
		doubted:  map[coll.Candidate]int{},
		belief:   learner.EmptyPosterior(spec.Learner.Prior),
		believed: -1,
		began:    time.Now(),
	}
	r.result.Ledger = r.ledger
	return r, nil
}

// FirstBatch returns what the first round of a new campaign asks its runner for.
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

// loop is ask, measure, evaluate, grow.
func (r *run) loop(ctx context.Context) (activelearn.StopReason, error) {
	for round := 1; ; round++ {
		_, known := r.past.Round(round)
		if stop := r.stopped(); !known && stop != "" {
			return stop, nil
		}
		if stop := r.spent(); stop != "" && !known {
			if stop == activelearn.SpaceExhausted && (r.whole() || r.holds()) {
				stop = activelearn.Converged
			}
			return stop, nil
		}
		r.result.Rounds = round
		batch, err := r.ask(round)
		if err != nil {
			return "", err
		}
		if err := r.measure(ctx, round, batch); err != nil {
			return "", err
		}
		if len(r.ledger.Measurements()) == 0 {
			continue
		}
		converged, err := r.converged(round)
		if err != nil {
			return "", err
		}
		grown, err := r.grow(round)
		if err != nil {
			return "", err
		}
		if converged && !grown {
			return activelearn.Converged, nil
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
	}
}

// spent is why no new round begins, "" to go on: what is to be tried or measured
// again is left over even when nothing else is.
func (r *run) spent() activelearn.StopReason {
	stop := r.watch.Spent(r.ledger, time.Since(r.began))
	if stop == activelearn.SpaceExhausted && len(r.retry)+len(r.doubts) > 0 {
		return ""
	}
	return stop
}

// whole reports whether the last evaluation is of a space that was measured completely and
// judged by that: nothing that could be measured is faster than what is selected.
func (r *run) whole() bool {
	n := len(r.result.Evaluations)
	return n > 0 && r.result.Evaluations[n-1].Source == byMeasurement
}

// holds reports whether the last evaluation meets the criteria.
func (r *run) holds() bool {
	n := len(r.result.Evaluations)
	return n > 0 && r.watch.Holds(figuresOf(r.result.Evaluations[n-1]))
}

// ask returns the batch of a round: the one in the log if there is one, since it
// may be running, else the strategy's with what is measured again. The strategy is asked
// either way, so that it goes through the same states as the first time.
func (r *run) ask(round int) ([]coll.Candidate, error) {
	retry := r.retry
	r.retry = nil
	s := activelearn.State{Round: round, Want: r.spec.Batch.Want(len(r.ledger.Measurements())), Ledger: r.ledger}
	if activelearn.UsesPosterior(r.spec.Strategy) && len(r.ledger.Measurements()) > 0 {
		var err error
		if s.Posterior, err = r.believe(); err != nil {
			return nil, err
		}
		s.Confirm = r.confirming()
	}
	var fresh []coll.Candidate
	if !r.waits() {
		var err error
		if fresh, err = r.strategy.Ask(s); err != nil {
			return nil, err
		}
	}
	batch := slices.Concat(retry, fresh, r.doubts, r.repeat(retry, fresh, r.doubts))
	logged, known := r.past.Round(round)
	switch {
	case !known:
		if err := r.append(journal.Record{Kind: journal.KindBatch, Round: round, Batch: batch, Reasons: r.reasons(round, batch)}); err != nil {
			return nil, err
		}
	case !slices.Equal(batch, logged.Batch):
		r.warn("round %d asks for another batch than the log has; the log is followed", round)
		batch = logged.Batch
	}
	return batch, pend(r.ledger, batch)
}

// waits reports whether the criteria have held for long enough, and all that lacks is what is to be
// measured again: a round then measures nothing else.
func (r *run) waits() bool { return r.watch.Held() && len(r.doubts) > 0 }

// reason is why the strategy asked for a candidate.
func (r *run) reason(c coll.Candidate) (why journal.Reason, known bool) {
	if e, explains := r.strategy.(activelearn.Explainer); explains {
		return e.Reason(c)
	}
	return why, false
}

// reasons are why the batch of a round is asked for, nil when the strategy says nothing.
func (r *run) reasons(round int, batch []coll.Candidate) []journal.Reason {
	said, out := false, make([]journal.Reason, len(batch))
	for i, c := range batch {
		var known bool
		if out[i], known = r.reason(c); r.doubted[c] == round {
			out[i] = journal.Reason{Again: true, Seconds: r.ledger.Measured(c).CostSeconds}
		}
		said = said || known
	}
	if !said {
		return nil
	}
	return out
}

// pend marks a batch as asked for, what was measured as asked for again; what is tried
// again is marked already.
func pend(l *activelearn.Ledger, batch []coll.Candidate) error {
	for _, c := range batch {
		if l.IsFree(c) || l.IsDone(c) {
			if err := l.Pend(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure takes the trials of the batch that the log has and runs the others.
func (r *run) measure(ctx context.Context, round int, batch []coll.Candidate) error {
	ended := map[coll.Candidate]bool{}
	var jobs []coll.Job
	if logged, known := r.past.Round(round); known {
		jobs = logged.Jobs()
		for _, t := range logged.Trials {
			ended[t.Candidate] = true
			if err := r.record(t); err != nil {
				return fmt.Errorf("%w: %w", ErrLog, err)
			}
		}
	}
	if len(ended) == len(batch) && !slices.ContainsFunc(jobs, func(j coll.Job) bool { return j.State != coll.JobEnded }) {
		return nil
	}
	b := r.batch(round, batch, ended)
	b.Jobs = jobs
	return r.problem.Runner.Run(ctx, b, roundLog{r, round})
}

// batch is a round as a runner sees it.
func (r *run) batch(round int, candidates []coll.Candidate, ended map[coll.Candidate]bool) benchrunner.Batch {
	b := benchrunner.Batch{
		Label:    r.problem.Library + "-" + string(r.problem.Collective),
		Round:    round,
		Requests: make([]benchrunner.Request, len(candidates)),
	}
	for i, c := range candidates {
		b.Requests[i] = benchrunner.Request{Candidate: c, Attempt: r.attempts[c] + 1, Ended: ended[c]}
	}
	return b
}

// roundLog writes what a runner tells of one round into the campaign's log.
type roundLog struct {
	run   *run
	round int
}

// Job writes how far a job has come.
func (l roundLog) Job(j coll.Job) error {
	if err := l.run.append(journal.Record{Kind: journal.KindJob, Round: l.round, Job: &j}); err != nil {
		return err
	}
	l.run.follow(j)
	return nil
}

// Trial writes a trial and enters it.
func (l roundLog) Trial(t coll.Trial) error {
	if err := l.run.append(journal.Record{Kind: journal.KindTrial, Round: l.round, Trial: &t}); err != nil {
		return err
	}
	return l.run.record(t)
}

// record enters a trial that ended and decides about a failed one.
func (r *run) record(t coll.Trial) error {
	r.attempts[t.Candidate]++
	again, err := enter(&r.result, t, r.spec.Attempts)
	if again {
		r.retry = append(r.retry, t.Candidate)
	}
	return err
}

// enter enters a trial into the result's ledger. After so many failed attempts
// the candidate is given up with a warning, before that it is to be tried again.
func enter(res *Result, t coll.Trial, attempts int) (again bool, err error) {
	if err := res.Ledger.Record(t); err != nil {
		return false, err
	}
	switch {
	case t.State == coll.TrialDone, res.Ledger.IsDone(t.Candidate): // a repeat that failed is none
		return false, nil
	case t.Attempt < attempts:
		return true, nil
	}
	res.Ledger.Abandon(t.Candidate)
	res.Warnings = append(res.Warnings, fmt.Sprintf("%v is given up after %d attempts: %s: %s", t.Candidate, t.Attempt, t.Phase, t.Error))
	return false, nil
}

// converged evaluates a round and reports whether the criteria have held for long
// enough, by nothing that is to be measured again.
func (r *run) converged(round int) (bool, error) {
	var err error
	if r.doubts, err = r.doubt(round + 1); err != nil {
		return false, err
	}
	eval, ok, err := r.evaluation(round)
	if err != nil || !ok {
		return false, err
	}
	r.result.Evaluations = append(r.result.Evaluations, eval)
	r.tell(PhaseMeasure)
	observe := r.watch.ObserveAll
	if r.spec.Judge == ByCrossValidation {
		observe = r.watch.Observe
	}
	converged := observe(figuresOf(eval)) && len(r.doubts) == 0
	if r.problem.Observer != nil {
		return r.problem.Observer.Evaluated(eval, converged, r.selected)
	}
	return converged, nil
}

// evaluation takes the evaluation of a round that the log has, or makes it. It reports
// false while there are no figures.
func (r *run) evaluation(round int) (eval journal.Evaluation, ok bool, err error) {
	if eval, ok = r.evaluated(round); ok {
		if _, next := r.evaluated(round + 1); !next && r.spec.Judge == ByPrediction {
			r.models, err = r.learn() // the next round is compared with what they expect
		}
		return eval, true, err
	}
	if eval, ok, err = r.evaluate(round); err != nil || !ok {
		return eval, false, err
	}
	return eval, true, r.append(journal.Record{Kind: journal.KindEvaluation, Round: round, Evaluation: &eval})
}

// evaluated returns the evaluation of a round that the log has.
func (r *run) evaluated(round int) (journal.Evaluation, bool) {
	logged, known := r.past.Round(round)
	if !known || logged.Evaluation == nil {
		return journal.Evaluation{}, false
	}
	return *logged.Evaluation, true
}

// stopped is why the log says that measuring ended, "" while it goes on.
func (r *run) stopped() activelearn.StopReason {
	if r.past == nil {
		return ""
	}
	return activelearn.StopReason(r.past.Stop)
}

// figuresOf are the figures that the criteria are held against: where something is
// predicted, its upper ends.
func figuresOf(e journal.Evaluation) metrics.Summary {
	s := metrics.Summary{Points: e.Judged, Slowdown: e.Slowdown, Mistakes: e.Mistakes}
	if e.SlowdownUpper > 0 {
		s.Slowdown, s.Mistakes = e.SlowdownUpper, e.MistakesUpper
	}
	return s
}

func (r *run) append(rec journal.Record) error {
	if r.log == nil {
		return nil
	}
	rec.Problem = r.problem.Problem
	return r.log.Append(rec)
}

func (r *run) warn(format string, args ...any) {
	r.result.Warnings = append(r.result.Warnings, fmt.Sprintf(format, args...))
}

// follow keeps count of the jobs in the queue.
func (r *run) follow(j coll.Job) {
	if j.State == coll.JobSubmitted {
		r.jobs[j.Name] = true
	} else {
		delete(r.jobs, j.Name)
	}
	r.tell(PhaseMeasure)
}

func (r *run) tell(phase Phase) {
	if r.observe == nil {
		return
	}
	e := Event{Problem: r.problem.Problem, Stop: r.result.Stop, Phase: phase, Jobs: len(r.jobs)}
	if n := len(r.result.Evaluations); n > 0 {
		e.Evaluation = r.result.Evaluations[n-1]
	}
	r.observe(e)
}
