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
		if at, ok := p.Space.Index(point); ok {
			opt.Weights[i] = p.Weights[at]
		}
	}
	return opt
}
