package activelearn

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"tutti/metrics"
)

// pair consists of two algorithms at the same point: the one with the lowest predicted time, and one rival.
type pair struct {
	best, other int     // entries of the posterior
	weight      float64 // of the point
	gap         float64 // difference of the means, 0 or more, decades
	variance    float64 // of the difference
	loss        float64 // weighted
}

// lossModel computes the expected loss of a choice. A loss of 1 is a slowdown, or a proportion of mistakes, as
// large as the stopping criteria allow.
type lossModel struct {
	metrics.Allowed
	mistake float64 // a choice that is slower than the best by more than this is a mistake; decades
}

func newLossModel(a metrics.Allowed) lossModel {
	a = a.WithDefaults()
	return lossModel{a, math.Log10(1 + a.Threshold)}
}

// loss returns the expected loss if the first of two algorithms is chosen. The loss is the expected slowdown
// plus the probability of a mistake, each divided by the value that the stopping criteria allow. The log10 of
// the ratio of their times, first to second, has the mean -gap. Its distribution is a mixture of two normal
// ones; see withTails.
func (m lossModel) loss(gap, variance float64) float64 {
	return withTails(gap, variance, func(gap, deviation float64) float64 {
		return normalSlowdown(gap, deviation)/m.Slowdown + distuv.UnitNormal.CDF(-(gap+m.mistake)/deviation)/m.Mistakes
	})
}

// expectedSlowdown returns the expected slowdown of the chosen algorithm minus one, so 0.1 means 10 %. The
// parameters are the same as those of the method `loss`.
func expectedSlowdown(gap, variance float64) float64 {
	return withTails(gap, variance, normalSlowdown)
}

// withTails returns the weighted mean of f at two standard deviations: the ordinary one, and a larger one
// whose weight is tailWeight.
func withTails(gap, variance float64, f func(gap, deviation float64) float64) float64 {
	s, sum := math.Sqrt(variance), 0.0
	if gap < certainGap*s {
		sum = (1 - tailWeight) * f(gap, s)
	}
	if s *= math.Sqrt(tailFactor); gap < certainGap*s {
		sum += tailWeight * f(gap, s)
	}
	return sum
}

// normalSlowdown returns ln 10 · E[max(x, 0)], where x is normal with mean -gap and standard deviation s.
// This approximates the expected slowdown minus one.
func normalSlowdown(gap, s float64) float64 {
	z := gap / s
	return math.Ln10 * max(0, s*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)-gap*distuv.UnitNormal.CDF(-z))
}

// shrink lowers the variance of a pair to account for an observation. `step` is the covariance
// between the pair's difference and the observation, divided by the standard deviation of the observation.
func (p *pair) shrink(step float64, m lossModel) {
	p.variance = max(0, p.variance-step*step)
	p.loss = p.weight * m.loss(p.gap, p.variance)
}

// addPairs fills b.choices with the choice at each point, and b.pairs with the pairs of algorithms that have
// the greatest losses. Excluded candidates form no pairs.
func (b *batchSelector) addPairs(excluded *Excluded) {
	for first := 0; first < len(b.entries); {
		end := first
		var selectable []int
		for ; end < len(b.entries) && b.entries[end].Row == b.entries[first].Row; end++ {
			if !excluded.Has(b.candidates[end]) {
				selectable = append(selectable, end)
			}
		}
		b.addPoint(first, selectable)
		first = end
	}
	slices.SortStableFunc(b.pairs, func(p, q pair) int { return cmp.Compare(q.loss, p.loss) })
	b.pairs = b.pairs[:min(len(b.pairs), maxPairs)]
}

// addPoint adds the current choice at one point, and the pairs of this choice with each rival. `first` is
// the index of the point's first entry. `selectable` lists the entries of algorithms that may be selected.
func (b *batchSelector) addPoint(first int, selectable []int) {
	if len(selectable) == 0 {
		b.choices = append(b.choices, openChoice{best: first, rival: first})
		return
	}
	best := slices.MinFunc(selectable, func(d, e int) int { return cmp.Compare(b.means[d], b.means[e]) })
	c := openChoice{best: best, rival: best}
	for _, e := range selectable {
		if e == best {
			continue
		}
		p := pair{best: best, other: e, weight: b.weights[b.entries[first].Row], gap: b.means[e] - b.means[best]}
		p.variance = b.posterior.Difference(best, e)
		if v := expectedSlowdown(p.gap, p.variance); v > c.slowdown || c.rival == best {
			c.slowdown, c.rival = v, e
		}
		if p.shrink(0, b.model); p.loss > 0 {
			b.pairs = append(b.pairs, p)
		}
	}
	b.choices = append(b.choices, c)
}
