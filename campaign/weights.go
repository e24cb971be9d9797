package campaign

import (
	"tutti/coll"
	"tutti/metrics"
)

// Weigh returns options by which each of some points of the space counts as much as
// it matters.
func (p Problem) Weigh(opt metrics.Options, points []coll.Point) metrics.Options {
	if p.Weights == nil {
		return opt
	}
	opt.Weights = make([]float64, len(points))
	for i, point := range points {
		opt.Weights[i] = p.weight(point)
	}
	return opt
}

// weight of a point of a problem with weights, 0 outside its space.
func (p Problem) weight(point coll.Point) float64 {
	if at, ok := p.Space.Index(point); ok {
		return p.Weights[at]
	}
	return 0
}
