package activelearn

import (
	"math/rand/v2"
	"slices"
	"time"

	"tutti/coll"
	"tutti/metrics"
	"tutti/selection"
)

// RuleOptions configure a StopRule.
type RuleOptions struct {
	Seed          uint64
	UsesPosterior bool // the strategy does: outliers are measured again, and some candidates twice
	Criteria      Criteria
	Limits        Limits
	Source        Source
	Metrics       metrics.Options
	Folds         int                // of the cross-validation
	Reference     []coll.Measurement // complete and noise-free; nil where there is none
	Weights       []float64          // of the points of the space; nil: all alike
	// Merge returns the selection that the library can be told; nil: Fastest.
	Merge func([]selection.Row) (Selection, error)
	// SharedLaunch is equal for candidates that one launch measures; nil: each needs its own.
	SharedLaunch func(coll.Candidate) any
	// Reason returns why a candidate is measured; nil where the strategy gives no reasons.
	Reason func(coll.Candidate) (Reason, bool)
}

// StopRule evaluates what is selected after each round and decides when a campaign stops. It
// also proposes outliers to be measured again and replicates that estimate the noise.
type StopRule struct {
	opt         RuleOptions
	points      []coll.Point
	index       *coll.Space // has the points
	ledger      *Ledger
	models      *Models
	watch       *Watch
	evaluations []Evaluation
	previous    *snapshot // of the round before, for predictions

	examined int                    // measurements that were examined for outliers
	outliers []coll.Candidate       // for the next round
	rounds   map[coll.Candidate]int // of all outliers so far: the round that measures them again
}

// NewStopRule returns the rule of a campaign that begins.
func NewStopRule(opt RuleOptions, l *Ledger, m *Models) *StopRule {
	if opt.Merge == nil {
		opt.Merge = Fastest
	}
	if opt.Reason == nil {
		opt.Reason = func(coll.Candidate) (Reason, bool) { return Reason{}, false }
	}
	return &StopRule{
		opt: opt, points: l.Space().Points(), index: l.Space(), ledger: l, models: m,
		watch: NewWatch(opt.Criteria, opt.Limits), rounds: map[coll.Candidate]int{},
	}
}

// Evaluations returns those of all rounds so far.
func (r *StopRule) Evaluations() []Evaluation { return r.evaluations }

// last returns the evaluation of the last round, and false where there is none.
func (r *StopRule) last() (Evaluation, bool) {
	n := len(r.evaluations)
	if n == 0 {
		return Evaluation{}, false
	}
	return r.evaluations[n-1], true
}

// Observe takes the evaluation of a round and reports whether the campaign has converged: the
// criteria have held for long enough, and there are no outliers.
func (r *StopRule) Observe(e Evaluation) (converged bool) {
	r.evaluations = append(r.evaluations, e)
	observe := r.watch.ObserveAll
	if r.opt.Source == CrossValidated {
		observe = r.watch.Observe
	}
	return observe(e.figures()) && len(r.outliers) == 0
}

// meetsCriteria reports whether the last evaluation meets the criteria.
func (r *StopRule) meetsCriteria() bool {
	e, ok := r.last()
	return ok && r.watch.Meets(e.figures())
}

// Confirming reports whether the next round draws a validation sample: the last prediction meets
// the criteria.
func (r *StopRule) Confirming() bool { return r.opt.Source == Predicted && r.meetsCriteria() }

// OnlyRemeasures reports whether the next round measures outliers alone: the criteria have held
// for long enough, and outliers are all that keeps the campaign from stopping.
func (r *StopRule) OnlyRemeasures() bool { return r.watch.Satisfied() && len(r.outliers) > 0 }

// SpaceGrew makes the criteria hold again for as long as from the start.
func (r *StopRule) SpaceGrew() { r.watch.Reset() }

// LimitReached returns why no further round begins, "" where one does. Outliers and candidates
// that failed and are tried again, so many of them, are left to be measured after all others.
func (r *StopRule) LimitReached(elapsed time.Duration, failed int) StopReason {
	stop := r.watch.LimitReached(r.ledger, elapsed)
	if stop == SpaceExhausted && failed+len(r.outliers) > 0 {
		return ""
	}
	return stop
}

// Conclude returns the reason of a campaign that stops at a limit: converged where everything is
// measured and either the measurements decide alone or the criteria hold.
func (r *StopRule) Conclude(limit StopReason) StopReason {
	e, _ := r.last()
	if limit == SpaceExhausted && (e.Source == measured || r.meetsCriteria()) {
		return Converged
	}
	return limit
}

const (
	// predictedPoints of the space are drawn in each round, and the selection is evaluated there.
	predictedPoints = 300
	// mergedPoints is the size of a space up to which the whole space is merged, as the files do,
	// in every round.
	mergedPoints = 20_000
	// ruleStream separates the points that are drawn for evaluations from those that strategies
	// draw in the same round: points that were just measured must not be evaluated more often.
	// Any odd number would do.
	ruleStream = 0x9e3779b97f4a7c15
)

// SamplePoints draws points of the space for the evaluation of a round, in order.
func (r *StopRule) SamplePoints(round int) []coll.Point {
	if len(r.points) <= predictedPoints {
		return slices.Clone(r.points)
	}
	at := rand.New(rand.NewPCG(r.opt.Seed^ruleStream, uint64(round))).Perm(len(r.points))[:predictedPoints]
	slices.Sort(at)
	out := make([]coll.Point, len(at))
	for k, i := range at {
		out[k] = r.points[i]
	}
	return out
}

// MergePoints returns the points of the space where all of it is merged in every round, else
// those of SamplePoints.
func (r *StopRule) MergePoints(round int) []coll.Point {
	if len(r.points) > mergedPoints {
		return r.SamplePoints(round)
	}
	return r.points
}

// Selected returns what is selected by all measurements.
func (r *StopRule) Selected() (Choice, error) {
	if r.previous != nil && r.previous.measurements == len(r.ledger.Measurements()) {
		return r.choiceOf(r.previous, r.points)
	}
	l, err := r.models.Fit()
	if err != nil {
		return nil, err
	}
	return r.merge(NewAlternatives(l, r.ledger), r.points)
}

// choiceOf returns what is selected by models, at some points at least.
func (r *StopRule) choiceOf(s *snapshot, points []coll.Point) (Choice, error) {
	if len(r.points) > mergedPoints {
		return r.merge(s.alternatives, points)
	}
	var err error
	if s.choose == nil {
		s.choose, err = r.merge(s.alternatives, points)
	}
	return s.choose, err
}

// merge returns what the files would select by alternatives. In a space of more than
// mergedPoints it returns the fastest algorithm at the given points, without merging.
func (r *StopRule) merge(a Alternatives, points []coll.Point) (Choice, error) {
	merge := Fastest
	if len(r.points) <= mergedPoints {
		merge, points = r.opt.Merge, r.points
	}
	rows, err := a.Rows(points)
	if err != nil {
		return nil, err
	}
	s, err := merge(rows)
	return s.Choose, err
}

// weigh returns metrics options in which each of some points has its weight.
func (r *StopRule) weigh(points []coll.Point) metrics.Options {
	return Weigh(r.opt.Metrics, r.index, r.opt.Weights, points)
}

// Weigh returns options in which each of some points of a space has its weight, 0 outside the
// space. weights are those of the points of the space; nil: all alike.
func Weigh(opt metrics.Options, space *coll.Space, weights []float64, points []coll.Point) metrics.Options {
	if weights == nil {
		return opt
	}
	opt.Weights = make([]float64, len(points))
	for i, p := range points {
		if at, ok := space.Index(p); ok {
			opt.Weights[i] = weights[at]
		}
	}
	return opt
}
