package activelearn

import (
	"slices"
	"time"

	"tutti/coll"
	"tutti/metrics"
	"tutti/selection"
	"tutti/surrogate/learner"
)

// RuleOptions configures a StopRule, which decides when a campaign stops.
type RuleOptions struct {
	Seed          uint64
	UsesPosterior bool // the strategy uses a posterior; then outliers are measured again, and replicates are made
	Criteria      Criteria
	Limits        Limits
	Source        Source
	Metrics       metrics.Options
	Folds         int                // of the cross-validation
	Reference     []coll.Measurement // complete, noise-free measurements; nil if there are none
	Weight        coll.Weight
	// Merge turns rows into a selection that the library's files can express. If Merge is nil, Fastest is used.
	Merge func([]selection.Row) (Selection, error)
	Bands int // see Alternatives.ForLayouts
	// SharedLaunch returns equal values for candidates that one launch can measure. If it is nil, each
	// candidate needs its own launch.
	SharedLaunch func(coll.Candidate) any
	// Launching has the measured candidates whose machine time includes a launch. The caller may add to it.
	Launching map[coll.Candidate]bool
	// Reason returns why a candidate is measured. It is nil if the strategy gives no reasons.
	Reason func(coll.Candidate) (Reason, bool)
}

// StopRule ends each round of a campaign. Round finds the outliers among the round's measurements, evaluates the
// selection and plans audits. Decide then says from Progress whether the campaign stops.
type StopRule struct {
	*Evaluator
	remeasure   remeasurements
	opt         RuleOptions
	ledger      *Ledger
	watch       *Watch
	measuresAll bool // see MeasuresAll
	evaluations []Evaluation
	evaluated   bool // the last of evaluations is that of the latest round
	grown       bool // the space has become larger since then
	outliers    []coll.Candidate
	auditing    bool    // the next round makes audits
	audits      []audit // of the next round; after a resume, those of rounds in the journal are unknown
	audited     []int64 // message sizes whose last audit found no mistake
}

// NewStopRule returns the stopping rule of a campaign without any evaluation so far.
func NewStopRule(opt RuleOptions, l *Ledger, m *Models) *StopRule {
	if opt.Merge == nil {
		opt.Merge = Fastest
	}
	if opt.Reason == nil {
		opt.Reason = func(coll.Candidate) (Reason, bool) { return Reason{}, false }
	}
	return &StopRule{
		Evaluator: &Evaluator{opt: opt, ledger: l, models: m}, opt: opt, ledger: l,
		remeasure: remeasurements{ledger: l, models: m, sharedLaunch: opt.SharedLaunch, off: !opt.UsesPosterior, rounds: map[coll.Candidate]int{}},
		watch:     NewWatch(opt.Criteria), measuresAll: MeasuresAll(opt.Source, l.Space()),
	}
}

// Logged is what the journal has of a round when a campaign is restored. It is empty for a new round.
type Logged struct {
	Evaluation *Evaluation
	NextRound  bool             // the journal has the batch of the next round
	Outliers   []coll.Candidate // that the next round measures again
	Later      bool             // the journal shows that a later round was evaluated, so the models of this one are not needed
}

// Round evaluates the selection after a round and plans what the next round measures besides the candidates of the
// strategy: outliers and audits. failed is the number of failed candidates that will be tried again. Round takes from
// the journal what it has, and fits no model for a round that was followed by another evaluation. It returns false
// if there is nothing to evaluate yet: with a single measured point, or with only one algorithm at each point.
func (r *StopRule) Round(round, failed int, logged Logged) (Evaluation, bool, error) {
	outliers, err := r.remeasure.findOutliers(round+1, logged)
	if err != nil {
		return Evaluation{}, false, err
	}
	e, f, ok, err := r.evaluate(round, failed, len(outliers), logged)
	if err != nil {
		return Evaluation{}, false, err
	}
	r.outliers, r.grown, r.audits, r.evaluated = outliers, false, nil, ok
	if !ok {
		return e, false, nil
	}
	if f != nil && r.opt.Criteria.predicted(e) {
		r.audits = r.affordable(planAudits(r.ledger, r.opt.Seed, round, f, e.Audited), f)
	}
	if logged.Evaluation == nil {
		e.Audits = len(r.audits)
	} else if e.Audits == 0 {
		r.audits = nil // the log plans none
	}
	r.evaluations, r.audited, r.auditing = append(r.evaluations, e), e.Audited, e.Audits > 0
	r.count(e)
	return e, true, nil
}

// evaluate returns the evaluation of a round and the forecast on which it is based, which is nil if there is none. It
// returns false if the round has no evaluation; then only the cost of the campaign is set.
func (r *StopRule) evaluate(round, failed, outliers int, logged Logged) (e Evaluation, f *forecast, ok bool, err error) {
	switch {
	case logged.Evaluation != nil && !logged.Later:
		e = *logged.Evaluation
		f, err = r.Refit(e)
		return e, f, true, err
	case logged.Evaluation != nil:
		return *logged.Evaluation, nil, true, nil
	case logged.Later:
		return e, nil, false, nil
	}
	e = Evaluation{Round: round, Outliers: outliers, Audited: slices.Clone(r.audited)}
	if n := len(r.evaluations); n > 0 && r.evaluated {
		e.Scores, e.AuditMistakes = r.evaluations[n-1].Scores, r.evaluations[n-1].AuditMistakes
	}
	passed, mistakes := resultsOf(r.audits, r.ledger, r.opt.Metrics.Threshold())
	e.Audited, e.AuditMistakes = append(e.Audited, passed...), e.AuditMistakes+mistakes
	slices.Sort(e.Audited)
	f, ok, err = r.Evaluate(&e, failed)
	return e, f, ok, err
}

// count counts an evaluation whose numbers must meet the criteria in successive rounds. It does not count if the
// campaign cannot stop after it: while an outlier or an audit is pending, or as long as nothing is compared.
func (r *StopRule) count(e Evaluation) {
	figures := metrics.Summary{Points: e.EvaluatedPoints, Slowdown: e.Slowdown, Mistakes: e.Mistakes}
	switch {
	case len(r.outliers) > 0 || r.auditing || !r.compared():
	case e.Source == CrossValidated:
		r.watch.Observe(figures)
	case e.Source == Reference:
		r.watch.ObserveAll(figures)
	}
}

// Progress returns the state of the campaign, for Decide. retries is the number of failed candidates that will be
// tried again.
func (r *StopRule) Progress(elapsed time.Duration, retries int) Progress {
	return Progress{
		Criteria: r.opt.Criteria, Evaluations: r.evaluations, Evaluated: r.evaluated, InRow: r.watch.Satisfied(), Grown: r.grown,
		Outliers: len(r.outliers), Retries: retries, Free: r.ledger.FreeCount(), Noisy: r.ledger.Noisy(), Left: r.shareLeftToLibrary(), Compared: r.compared(),
		MeasuresAll: r.measuresAll, Replicates: len(r.ledger.Replicates()), Limit: r.opt.Limits.Reached(r.ledger, elapsed),
	}
}

// shareLeftToLibrary returns the share of the weight at the points that are left to the library.
func (r *StopRule) shareLeftToLibrary() float64 {
	left := r.ledger.LeftToLibrary()
	if len(left) == 0 {
		return 0
	}
	sum, total := 0.0, 0.0
	for _, p := range left {
		sum += r.opt.Weight.Of(p)
	}
	for _, p := range r.ledger.Space().Points() {
		total += r.opt.Weight.Of(p)
	}
	if total == 0 {
		return float64(len(left)) / float64(len(r.ledger.Space().Points()))
	}
	return sum / total
}

// compared reports whether at least two algorithms were measured, or the space has only one.
func (r *StopRule) compared() bool {
	var first *coll.Measurement
	for m := range r.ledger.All() {
		if first == nil {
			first = &m
		} else if m.Algorithm != first.Algorithm {
			return true
		}
	}
	return len(r.ledger.Space().Algorithms()) < 2
}

// Evaluations returns the evaluations of all rounds so far, in order.
func (r *StopRule) Evaluations() []Evaluation { return r.evaluations }

// last returns the evaluation of the latest round, or false if that round could not be evaluated.
func (r *StopRule) last() (Evaluation, bool) {
	return Progress{Evaluations: r.evaluations, Evaluated: r.evaluated}.last()
}

// MeetsCriteria reports whether the latest evaluation meets the stopping criteria. Predictions must meet them
// on average and with the probability Criteria.Confidence.
func (r *StopRule) MeetsCriteria() bool {
	e, ok := r.last()
	if ok && e.Source == Predicted {
		return r.opt.Criteria.predicted(e)
	}
	return ok && r.opt.Criteria.Meets(metrics.Summary{Slowdown: e.Slowdown, Mistakes: e.Mistakes})
}

// Accepts reports whether a selection that other models make is also expected to meet the stopping criteria.
// The campaign's posterior predicts the quality of this selection, as it does for the campaign's own
// selection. If no evaluation has used the posterior, Accepts returns true.
func (r *StopRule) Accepts(models *learner.Learner) (bool, error) {
	e, ok := r.last()
	if !ok || e.Source == CrossValidated || e.Source == Reference {
		return true, nil
	}
	own, err := r.models.Learner()
	if err != nil {
		return false, err
	}
	points := r.SamplePoints(e.Round)
	a, err := r.alternatives(models)
	if err != nil {
		return false, err
	}
	choose, err := r.merge(a, points)
	if err != nil {
		return false, err
	}
	s, ok, err := NewAlternatives(own, r.ledger).Expected(points, choose, r.weigh(points), e.Scores, r.opt.Seed)
	return ok && r.opt.Criteria.Meets(s), err
}

// MeasuresAll reports whether a campaign measures every candidate of its space unless a limit ends it. It does if the
// stopping criteria are checked by predictions, and the space has too few points for predictions to end a campaign.
func MeasuresAll(s Source, space *coll.Space) bool {
	return s == Predicted && len(space.Points()) < minPredictedPoints
}

// MeasuresAll reports whether the function MeasuresAll holds for the initial space, even if the space has grown since.
func (r *StopRule) MeasuresAll() bool { return r.measuresAll }

// OnlyRemeasures reports whether the next round only measures outliers again: without them, the campaign would
// stop.
func (r *StopRule) OnlyRemeasures() bool {
	e, ok := r.last()
	return ok && len(r.outliers) > 0 && !r.auditing && (r.watch.Satisfied() || e.Source == Predicted && r.MeetsCriteria())
}

// SpaceGrew must be called when the space has become larger. With new algorithms in it, the audits are void, and
// the number of successive rounds that met the criteria becomes zero.
func (r *StopRule) SpaceGrew(algorithms bool) {
	r.grown = true
	if algorithms {
		r.watch.Reset()
		r.auditing, r.audits, r.audited = false, nil, nil
	}
}

// SkipOutlierSearch must be called before a round of confirmation. Measurements of earlier rounds are no outliers from then on.
func (r *StopRule) SkipOutlierSearch() { r.remeasure.examined = r.ledger.CandidatesMeasured() }

// Replicate returns what is measured again with the candidates of a round; see remeasurements.replicate.
func (r *StopRule) Replicate(batches ...[]coll.Candidate) []coll.Candidate {
	return r.remeasure.replicate(batches...)
}

// Outliers returns the outliers that the next round measures again.
func (r *StopRule) Outliers() []coll.Candidate { return r.outliers }

// Auditing reports whether the next round contains audits.
func (r *StopRule) Auditing() bool { return r.auditing }

// Audit returns the candidates that the next round measures for audits (see audit).
func (r *StopRule) Audit() (out []coll.Candidate) {
	for _, a := range r.audits {
		for _, c := range a.candidates() {
			if r.ledger.IsFree(c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// Reasons returns the reason for each candidate of a round. Retries and replicates have no reason. If no
// candidate has a reason, Reasons returns nil.
func (r *StopRule) Reasons(round int, batch []coll.Candidate) []Reason {
	known, out := false, make([]Reason, len(batch))
	for i, c := range batch {
		has := true
		switch {
		case r.remeasure.rounds[c] == round:
			out[i] = Reason{Outlier: true, Seconds: r.ledger.Measured(c).CostSeconds}
		case slices.ContainsFunc(r.audits, func(a audit) bool { return a.point == c.Point }):
			out[i] = Reason{Audit: true}
		case r.ledger.IsFree(c):
			out[i], has = r.opt.Reason(c)
		default:
			has = false
		}
		known = known || has
	}
	if !known {
		return nil
	}
	return out
}
