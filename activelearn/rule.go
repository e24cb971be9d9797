package activelearn

import (
	"math/rand/v2"
	"slices"
	"time"

	"tutti/coll"
	"tutti/metrics"
	"tutti/selection"
)

// RuleOptions configures a StopRule, which decides when a campaign stops.
type RuleOptions struct {
	Seed          uint64
	UsesPosterior bool // the strategy uses a posterior; then outliers are measured again, and replicates are made
	Criteria      Criteria
	Limits        Limits
	Source        Source
	Metrics       metrics.Options
	Folds         int                      // of the cross-validation
	Reference     []coll.Measurement       // complete, noise-free measurements; nil if there are none
	Weight        func(coll.Point) float64 // of a point; nil: all alike
	// Merge turns rows into a selection that the library's files can express. If Merge is nil, Fastest is used.
	Merge func([]selection.Row) (Selection, error)
	// SharedLaunch returns equal values for candidates that one launch can measure. If it is nil, each
	// candidate needs its own launch.
	SharedLaunch func(coll.Candidate) any
	// Reason returns why a candidate is measured. It is nil if the strategy gives no reasons.
	Reason func(coll.Candidate) (Reason, bool)
}

// StopRule evaluates the selection after each round and decides when a campaign stops. It also says
// which outliers to measure again, and which candidates to measure twice so that the noise can be estimated.
type StopRule struct {
	opt         RuleOptions
	ledger      *Ledger
	models      *Models
	watch       *Watch
	measuresAll bool // see MeasuresAll
	evaluations []Evaluation
	evaluated   bool      // the last of evaluations is that of the latest round
	previous    *snapshot // of the last forecast

	auditing bool    // the next round makes audits
	audits   []audit // of the next round; after a resume, those of rounds in the journal are unknown
	audited  []int64 // message sizes whose last audit found no mistake

	examined int                    // number of measurements that were checked for outliers
	outliers []coll.Candidate       // for the next round
	rounds   map[coll.Candidate]int // all outliers so far, each with the round that measures it again
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
		opt: opt, ledger: l, models: m,
		watch: NewWatch(opt.Criteria, opt.Limits), measuresAll: MeasuresAll(opt.Source, l.Space()), rounds: map[coll.Candidate]int{},
	}
}

// Evaluations returns the evaluations of all rounds so far, in order.
func (r *StopRule) Evaluations() []Evaluation { return r.evaluations }

// last returns the evaluation of the latest round, or false if that round could not be evaluated.
func (r *StopRule) last() (Evaluation, bool) {
	n := len(r.evaluations)
	if n == 0 || !r.evaluated {
		return Evaluation{}, false
	}
	return r.evaluations[n-1], true
}

// Observe records the evaluation of a round; `ok` is false if the round has none. It reports whether the campaign has
// converged. This requires that the stopping criteria hold, that algorithms were compared, and that no outlier is
// pending. If the criteria are checked by predictions, they must hold with a high probability (PConverged), and no
// audit may remain. Otherwise enough successive rounds must meet them.
func (r *StopRule) Observe(e Evaluation, ok bool) (converged bool) {
	if r.evaluated = ok; !ok {
		return false
	}
	r.evaluations = append(r.evaluations, e)
	r.audited, r.auditing = e.Audited, e.Audits > 0
	figures := metrics.Summary{Points: e.Judged, Slowdown: e.Slowdown, Mistakes: e.Mistakes}
	switch {
	case len(r.outliers) > 0 || r.auditing || !r.compared():
		return false
	case e.Source == CrossValidated:
		return r.watch.Observe(figures)
	case e.Source == Reference:
		return r.watch.ObserveAll(figures)
	}
	return e.Source == Predicted && e.PConverged >= confidence && !r.MeasuresAll()
}

// compared reports whether at least two algorithms were measured, or the space has only one. It returns
// false if all algorithms except one failed, because there is nothing to compare.
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

// meetsCriteria reports whether the latest evaluation meets the stopping criteria. Predictions must meet them
// with the probability `confidence`.
func (r *StopRule) meetsCriteria() bool {
	if e, ok := r.last(); ok && e.Source == Predicted {
		return e.PConverged >= confidence
	}
	return r.averagesMeetCriteria()
}

// averagesMeetCriteria reports whether the averages of the latest evaluation meet the stopping criteria. The
// upper confidence limits do not matter here: after every candidate is measured, no further round can narrow
// them.
func (r *StopRule) averagesMeetCriteria() bool {
	e, ok := r.last()
	return ok && r.watch.Meets(metrics.Summary{Slowdown: e.Slowdown, Mistakes: e.Mistakes})
}

// MeasuresAll reports whether a campaign measures every candidate of its space unless a limit ends it. It does if the
// stopping criteria are checked by predictions, and the space has too few points for predictions to end a campaign.
func MeasuresAll(s Source, space *coll.Space) bool {
	return s == Predicted && len(space.Points()) < minPredictedPoints
}

// MeasuresAll reports whether the campaign of this rule measures every candidate, unless a limit ends it
// earlier. This depends on the initial space, even if the space grows later.
func (r *StopRule) MeasuresAll() bool { return r.measuresAll }

// OnlyRemeasures reports whether the next round only measures outliers again: without them, the campaign would
// stop.
func (r *StopRule) OnlyRemeasures() bool {
	e, ok := r.last()
	return ok && len(r.outliers) > 0 && !r.auditing && (r.watch.Satisfied() || e.Source == Predicted && r.meetsCriteria())
}

// SpaceGrew must be called when the space has become larger. It discards the audits and sets the number of
// successive rounds that met the criteria to zero.
func (r *StopRule) SpaceGrew() {
	r.watch.Reset()
	r.auditing, r.audits, r.audited = false, nil, nil
}

// LimitReached returns the limit that the campaign has reached, or "" if it has reached none.
func (r *StopRule) LimitReached(elapsed time.Duration) StopReason {
	return r.watch.LimitReached(r.ledger, elapsed)
}

// Ended returns the reason why no further round begins. If a further round begins, it returns "". The
// parameter `retries` is the number of failed candidates that will be tried again.
//
// A space is completely measured if no candidate is free, none will be tried again after a failure, and no
// outlier will be measured again. Ended checks this before the limits. For a completely measured space the
// reason is Converged if the averages meet the criteria and algorithms were compared.
func (r *StopRule) Ended(elapsed time.Duration, retries int) StopReason {
	switch complete := r.ledger.Left() == 0 && retries+len(r.outliers) == 0; {
	case complete && r.averagesMeetCriteria() && r.compared():
		return Converged
	case complete:
		return SpaceExhausted
	case r.noiseLimited():
		return NoiseLimited
	}
	return r.LimitReached(elapsed)
}

// noiseLimited reports whether noise keeps the stopping criteria out of reach: they would fail with the
// probability `confidence` even if every candidate were measured once. This must hold in successive rounds,
// because a few replicates can change the estimated noise.
func (r *StopRule) noiseLimited() bool {
	rounds := max(1, r.opt.Criteria.Patience)
	if r.MeasuresAll() || len(r.evaluations) < rounds || len(r.ledger.Replicates()) < minReplicates {
		return false
	}
	return !slices.ContainsFunc(r.evaluations[len(r.evaluations)-rounds:], func(e Evaluation) bool {
		return e.Source != Predicted || e.PAttainable >= 1-confidence
	})
}

const (
	// ruleStream changes the seed for the random points of evaluations, so that they are independent of the
	// points that strategies draw in the same round. If they were the same, measured points would be evaluated
	// more often than others. Any odd number would do.
	ruleStream = 0x9e3779b97f4a7c15
	// drawStream changes the seed for the random draws of forecasts.
	drawStream = 0xbf58476d1ce4e5b9
	// betweenStream changes the seed for the random draws of Between, at message sizes between two sizes of the
	// space.
	betweenStream = 0x94d049bb133111eb
	// auditStream changes the seed for the random points of audits.
	auditStream = 0xd1342543de82ef95
)

// SamplePoints draws the points at which a round's selection is evaluated. They are in the order of
// the space.
func (r *StopRule) SamplePoints(round int) []coll.Point {
	points := r.points()
	if len(points) <= predictedPoints {
		return slices.Clone(points)
	}
	at := rand.New(rand.NewPCG(r.opt.Seed^ruleStream, uint64(round))).Perm(len(points))[:predictedPoints]
	slices.Sort(at)
	out := make([]coll.Point, len(at))
	for k, i := range at {
		out[k] = points[i]
	}
	return out
}

func (r *StopRule) points() []coll.Point { return r.ledger.Space().Points() }

// MergePoints returns the points at which a round's selection is merged into rules. These are all points if the space
// has at most mergedPoints. In a larger space they are the points of SamplePoints.
func (r *StopRule) MergePoints(round int) []coll.Point {
	if len(r.points()) > mergedPoints {
		return r.SamplePoints(round)
	}
	return r.points()
}

// Selected returns the selection that follows from all measurements.
func (r *StopRule) Selected() (Choice, error) {
	if r.previous != nil && r.previous.measurements == r.ledger.CandidatesMeasured() {
		return r.choiceOf(r.previous, r.points())
	}
	l, err := r.models.Fit()
	if err != nil {
		return nil, err
	}
	return r.merge(NewAlternatives(l, r.ledger), r.points())
}

// choiceOf returns the selection that follows from `s`, the models as they were fitted after some round. In a large
// space it selects only at the given points.
func (r *StopRule) choiceOf(s *snapshot, points []coll.Point) (Choice, error) {
	if len(r.points()) > mergedPoints {
		return r.merge(s.alternatives, points)
	}
	var err error
	if s.choose == nil {
		s.choose, err = r.merge(s.alternatives, points)
	}
	return s.choose, err
}

// merge turns the measured and predicted times into the selection that the library's files would make. In a space of
// more than mergedPoints points, it selects the fastest algorithm at each given point instead.
func (r *StopRule) merge(a Alternatives, points []coll.Point) (Choice, error) {
	merge := Fastest
	if len(r.points()) <= mergedPoints {
		merge, points = r.opt.Merge, a.space.Points()
	}
	rows, err := a.Rows(points)
	if err != nil {
		return nil, err
	}
	s, err := merge(rows)
	return s.Choose, err
}

// weigh returns the options for metrics over the given points, each with its own weight.
func (r *StopRule) weigh(points []coll.Point) metrics.Options {
	return Weigh(r.opt.Metrics, r.opt.Weight, points)
}

// Weigh returns a copy of `opt` with the weights of the given points. If `weight` is nil, the weights are equal.
func Weigh(opt metrics.Options, weight func(coll.Point) float64, points []coll.Point) metrics.Options {
	if weight == nil {
		return opt
	}
	opt.Weights = make([]float64, len(points))
	for i, p := range points {
		opt.Weights[i] = weight(p)
	}
	return opt
}
