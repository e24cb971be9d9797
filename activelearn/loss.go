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

// boardPairs are kept, those of greatest loss.
const boardPairs = 500

// A Gaussian process underestimates its error where an algorithm behaves differently from
// some point on, at an eager limit or another number of switches: errors of five
// deviations are not rare. So in one case of ten its deviations are taken to be four times
// as large. Without this an algorithm that was slow where it was measured is not tried
// elsewhere.
const (
	tailWeight = 0.1
	tailFactor = 16 // of variances
)

// stakes say what is lost: the criteria, and by how many decades a mistake is slower.
type stakes struct {
	metrics.Allowed
	mistake float64
}

func stakesOf(a metrics.Allowed) stakes {
	a = a.WithDefaults()
	return stakes{a, math.Log10(1 + a.Threshold)}
}

// loss is what choosing the first of two algorithms is expected to lose to the second:
// the time of the first over that of the second, in decades, is normal with mean -gap
// and the given variance, with tails. It adds up the expected slowdown and the probability
// of a mistake, each in units of what the criteria allow.
func (s stakes) loss(gap, variance float64) float64 {
	return withTails(gap, variance, func(gap, deviation float64) float64 {
		return lost(gap, deviation)/s.Slowdown + distuv.UnitNormal.CDF(-(gap+s.mistake)/deviation)/s.Mistakes
	})
}

// slowdown is the expected slowdown in loss, as a part: 0.1 is 10 %.
func slowdown(gap, variance float64) float64 { return withTails(gap, variance, lost) }

// Nothing is lost across a gap of more than so many deviations.
const surely = 6

// withTails is the mean of f over what the deviation may be.
func withTails(gap, variance float64, f func(gap, deviation float64) float64) float64 {
	s, sum := math.Sqrt(variance), 0.0
	if gap < surely*s {
		sum = (1 - tailWeight) * f(gap, s)
	}
	if s *= math.Sqrt(tailFactor); gap < surely*s {
		sum += tailWeight * f(gap, s)
	}
	return sum
}

// lost is the expected slowdown, as a part, for a normal variable: ln 10 · E[max(x, 0)]
// with x normal of mean -gap and deviation s.
func lost(gap, s float64) float64 {
	z := gap / s
	return math.Ln10 * max(0, s*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)-gap*distuv.UnitNormal.CDF(-z))
}

// shrink takes from a pair's variance what an observation explains of it, the square
// of the covariance with it over its deviation.
func (p *pair) shrink(step float64, at stakes) {
	p.variance = max(0, p.variance-step*step)
	p.loss = p.weight * at.loss(p.gap, p.variance)
}

// addPairs keeps the pairs of greatest loss, and the doubt at each point. What must not be
// selected is in no pair.
func (b *board) addPairs(barred *Excluded) {
	for first := 0; first < len(b.entries); {
		end := first
		var open []int
		for ; end < len(b.entries) && b.entries[end].Row == b.entries[first].Row; end++ {
			if !barred.Has(b.candidates[end]) {
				open = append(open, end)
			}
		}
		b.addPoint(first, open)
		first = end
	}
	slices.SortStableFunc(b.pairs, func(p, q pair) int { return cmp.Compare(q.loss, p.loss) })
	b.pairs = b.pairs[:min(len(b.pairs), boardPairs)]
}

// addPoint adds the pairs and the doubt of the point whose first entry is given; open are
// those of its entries that may be selected.
func (b *board) addPoint(first int, open []int) {
	if len(open) == 0 {
		b.doubts = append(b.doubts, doubt{best: first, rival: first})
		return
	}
	best := slices.MinFunc(open, func(d, e int) int { return cmp.Compare(b.means[d], b.means[e]) })
	d := doubt{best: best, rival: best}
	for _, e := range open {
		if e == best {
			continue
		}
		p := pair{best: best, other: e, weight: b.weights[b.entries[first].Row], gap: b.means[e] - b.means[best]}
		p.variance = b.posterior.Difference(best, e)
		if v := slowdown(p.gap, p.variance); v > d.slowdown || d.rival == best {
			d.slowdown, d.rival = v, e
		}
		if p.shrink(0, b.stakes); p.loss > 0 {
			b.pairs = append(b.pairs, p)
		}
	}
	b.doubts = append(b.doubts, d)
}
