package activelearn

import (
	"math/rand/v2"
	"slices"

	"tutti/coll"
	"tutti/metrics"
)

// SamplePoints draws the points at which a round's selection is evaluated, in the order of the space.
func (r *Evaluator) SamplePoints(round int) []coll.Point {
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

func (r *Evaluator) points() []coll.Point { return r.ledger.Space().Points() }

// MergePoints returns the points at which a round's selection is merged into rules. These are all points if the space
// has at most mergedPoints. In a larger space they are the points of SamplePoints.
func (r *Evaluator) MergePoints(round int) []coll.Point {
	if len(r.points()) > mergedPoints {
		return r.SamplePoints(round)
	}
	return r.points()
}

// Selected returns the selection that follows from all measurements.
func (r *Evaluator) Selected() (Choice, error) {
	if r.previous != nil && r.previous.measurements == r.ledger.CandidatesMeasured() {
		return r.choiceOf(r.previous, r.points())
	}
	l, err := r.models.Learner()
	if err != nil {
		return nil, err
	}
	a, err := r.alternatives(l)
	if err != nil {
		return nil, err
	}
	return r.merge(a, r.points())
}

// choiceOf returns the selection that follows from `s`, the models as they were fitted after some round. In a large
// space it selects only at the given points.
func (r *Evaluator) choiceOf(s *snapshot, points []coll.Point) (Choice, error) {
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
func (r *Evaluator) merge(a Alternatives, points []coll.Point) (Choice, error) {
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
func (r *Evaluator) weigh(points []coll.Point) metrics.Options {
	return Weigh(r.opt.Metrics, r.opt.Weight, points)
}

// Weigh returns a copy of `opt` with the weights of the given points.
func Weigh(opt metrics.Options, weight coll.Weight, points []coll.Point) metrics.Options {
	if weight == nil {
		return opt
	}
	opt.Weights = make([]float64, len(points))
	for i, p := range points {
		opt.Weights[i] = weight(p)
	}
	return opt
}
