package activelearn

import (
	"math/rand/v2"
	"slices"
	"time"

	"tutti/coll"
	"tutti/metrics"
	"tutti/selection"
)

// RuleOptions configures a StopRule.
type RuleOptions struct {
	Seed          uint64
	UsesPosterior bool // the strategy uses a posterior: outliers and replicates are measured
	Criteria      Criteria
	Limits        Limits
	Source        Source
	Metrics       metrics.Options
	Folds         int                      // of the cross-validation
	Reference     []coll.Measurement       // complete and noise-free; nil where there is none
	Weight        func(coll.Point) float64 // of a point; nil: all alike
	// Merge turns rows into a selection that the library's files can express. If it is nil, Fastest is
	// used.
	Merge func([]selection.Row) (Selection, error)
	// SharedLaunch returns equal values for candidates that one launch can measure. If it is nil, each
	// candidate needs its own launch.
	SharedLaunch func(coll.Candidate) any
	// Reason returns why a candidate is measured. It is nil if the strategy gives no reasons.
	Reason func(coll.Candidate) (Reason, bool)
}

// StopRule evaluates the selection after each round and decides when a campaign stops. It also names the
// outliers that should be measured again, and replicates from which the noise is estimated.
type StopRule struct {
	opt         RuleOptions
	ledger      *Ledger
	models      *Models
	watch       *Watch
	evaluations []Evaluation
	evaluated   bool      // the latest round, as the last of the evaluations
	previous    *snapshot // of the round before, for predictions

	examined int                    // measurements that were examined for outliers
	outliers []coll.Candidate       // for the next round
	rounds   map[coll.Candidate]int // of all outliers so far: the round that measures them again
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
		watch: NewWatch(opt.Criteria, opt.Limits), rounds: map[coll.Candidate]int{},
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

// Observe records the evaluation of a round. It reports whether the campaign has converged: enough
// successive rounds met the criteria, algorithms were compared, and no outlier is pending.
func (r *StopRule) Observe(e Evaluation) (converged bool) {
	r.evaluations, r.evaluated = append(r.evaluations, e), true
	observe := r.watch.ObserveAll
	if r.opt.Source == CrossValidated {
		observe = r.watch.Observe
	}
	return observe(e.figures()) && len(r.outliers) == 0 && r.compared()
}

// compared reports whether two algorithms were measured, or the space has only one. If all others failed,
// nothing is known about the one that is left.
func (r *StopRule) compared() bool {
	ms := r.ledger.Measurements()
	return len(r.ledger.Space().Algorithms()) < 2 ||
		slices.ContainsFunc(ms, func(m coll.Measurement) bool { return m.Algorithm != ms[0].Algorithm })
}

// meetsCriteria reports whether the latest evaluation meets the criteria.
func (r *StopRule) meetsCriteria() bool {
	e, ok := r.last()
	return ok && r.watch.Meets(e.figures())
}

// averagesMeetCriteria reports whether the averages of the latest evaluation, instead of the upper ends,
// meet the criteria. If every candidate is measured, no further round can narrow the confidence intervals.
func (r *StopRule) averagesMeetCriteria() bool {
	e, ok := r.last()
	return ok && r.watch.Meets(metrics.Summary{Slowdown: e.Slowdown, Mistakes: e.Mistakes})
}

// Confirming reports whether the next round draws a validation sample. It does if the latest evaluation is
// predicted and meets the criteria.
func (r *StopRule) Confirming() bool { return r.opt.Source == Predicted && r.meetsCriteria() }

// OnlyRemeasures reports whether the next round measures only outliers. This is the case if enough rounds
// met the criteria and only the outliers keep the campaign from stopping.
func (r *StopRule) OnlyRemeasures() bool { return r.watch.Satisfied() && len(r.outliers) > 0 }

// SpaceGrew discards the count of rounds that met the criteria, because the space has become larger.
func (r *StopRule) SpaceGrew() { r.watch.Reset() }

// LimitReached returns the limit that the campaign has reached, or "" if it has reached none.
func (r *StopRule) LimitReached(elapsed time.Duration) StopReason {
	return r.watch.LimitReached(r.ledger, elapsed)
}

// Ended returns the reason why no further round begins. If a further round begins, it returns "". The
// parameter retries is the number of failed candidates that will be tried again.
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
	}
	return r.LimitReached(elapsed)
}

const (
	// predictedPoints is the number of points that are drawn in each round. The selection is evaluated at
	// these points.
	predictedPoints = 300
	// mergedPoints is a number of points. In a space that is not larger, the complete selection is merged
	// in every round, in the same way as for the exported files.
	mergedPoints = 20_000
	// ruleStream makes the random points of evaluations independent of the points that strategies draw in
	// the same round. Otherwise measured points would be evaluated more often than others. Any odd number
	// would do.
	ruleStream = 0x9e3779b97f4a7c15
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

// points returns the points of the space.
func (r *StopRule) points() []coll.Point { return r.ledger.Space().Points() }

// MergePoints returns the points whose selection is merged in a round. These are all points if the space
// has at most mergedPoints points, otherwise those of SamplePoints.
func (r *StopRule) MergePoints(round int) []coll.Point {
	if len(r.points()) > mergedPoints {
		return r.SamplePoints(round)
	}
	return r.points()
}

// Selected returns the selection that follows from all measurements.
func (r *StopRule) Selected() (Choice, error) {
	if r.previous != nil && r.previous.measurements == len(r.ledger.Measurements()) {
		return r.choiceOf(r.previous, r.points())
	}
	l, err := r.models.Fit()
	if err != nil {
		return nil, err
	}
	return r.merge(NewAlternatives(l, r.ledger), r.points())
}

// choiceOf returns the selection that follows from the models of a snapshot. In a large space the selection
// has only the given points.
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

// merge returns the selection that exported files would have. In a space of more than mergedPoints points
// it does not merge, but returns the fastest algorithm at each given point.
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

// weigh returns a copy of the metrics options with the weights of the given points.
func (r *StopRule) weigh(points []coll.Point) metrics.Options {
	return Weigh(r.opt.Metrics, r.opt.Weight, points)
}

// Weigh returns a copy of opt with the weights of the given points. If weight is nil, the weights are equal.
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
