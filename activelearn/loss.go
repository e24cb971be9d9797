package activelearn

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"tutti/metrics"
)

// pair is the algorithm of lowest mean at a point and another one.
type pair struct {
	best, other int     // entries of the posterior
	weight      float64 // of the point
	gap         float64 // difference of the means, 0 or more, decades
	variance    float64 // of the difference
	loss        float64 // weighted
}

// maxPairs is how many pairs are kept, those of greatest loss.
const maxPairs = 500

// A Gaussian process underestimates its error where an algorithm behaves differently from some
// point on, at an eager limit or another number of switches: errors of five deviations are not
// rare. So with probability tailWeight its variance is taken to be tailFactor times as large.
// Without the tail an algorithm that was slow where it was measured is not tried elsewhere.
const (
	tailWeight = 0.1
	tailFactor = 16
)

// lossModel computes losses in units of what the criteria allow.
type lossModel struct {
	metrics.Allowed
	mistake float64 // a mistake is slower by so many decades
}

func newLossModel(a metrics.Allowed) lossModel {
	a = a.WithDefaults()
	return lossModel{a, math.Log10(1 + a.Threshold)}
}

// loss is the expected loss of choosing the first of two algorithms: the time of the first over
// that of the second, in decades, is normal with mean -gap and the given variance, with tails. It
// is the sum of the expected slowdown and the probability of a mistake, each divided by what the
// criteria allow.
func (m lossModel) loss(gap, variance float64) float64 {
	return withTails(gap, variance, func(gap, deviation float64) float64 {
		return normalSlowdown(gap, deviation)/m.Slowdown + distuv.UnitNormal.CDF(-(gap+m.mistake)/deviation)/m.Mistakes
	})
}

// expectedSlowdown is the expected slowdown of the choice in loss, as a part: 0.1 is 10 %.
func expectedSlowdown(gap, variance float64) float64 {
	return withTails(gap, variance, normalSlowdown)
}

// certainGap is the number of deviations from which a gap leaves no loss.
const certainGap = 6

// withTails is the mean of f over the two possible deviations.
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

// normalSlowdown is the expected slowdown for a normal variable, as a part: ln 10 · E[max(x, 0)]
// with x normal of mean -gap and deviation s.
func normalSlowdown(gap, s float64) float64 {
	z := gap / s
	return math.Ln10 * max(0, s*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)-gap*distuv.UnitNormal.CDF(-z))
}

// shrink lowers a pair's variance by an observation. step is the covariance of the pair's
// difference with the observation, divided by the deviation of the observation.
func (p *pair) shrink(step float64, m lossModel) {
	p.variance = max(0, p.variance-step*step)
	p.loss = p.weight * m.loss(p.gap, p.variance)
}

// addPairs adds the pairs of greatest loss, and the open choice at each point. Excluded candidates
// are in no pair.
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

// addPoint adds the pairs and the open choice of the point whose first entry is given.
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
