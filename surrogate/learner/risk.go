package learner

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"tutti/coll"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/gp"
)

// Risk is what a choice at a point is expected to lose, given what was measured.
type Risk struct {
	Loss    float64 // expected slowdown, minus one
	Square  float64 // expected square of the slowdown minus one
	Mistake float64 // probability of a significant mistake
	Best    float64 // probability that nothing is faster by more than a tie
}

// riskBlock is how many points have their posterior in memory at once.
const riskBlock = 128

// riskMost bounds the expected loss: ten times as slow as the rival.
const riskMost = 9

// Risks returns what each choice is expected to lose at its point beside the other
// algorithms that can run there; see RiskOf. Times are those measured, which are off by
// their own noise alone, and else those that the Gaussian process predicts,
// with its deviations times the scale of the point. Forests are not asked, even if they have a weight: the
// choices need not be this learner's own.
//
// It returns an error for model Forest and for a choice that the Gaussian process does not
// know. O(points · algorithms · n²) operations for n measurements.
func (l *Learner) Risks(points []coll.Point, choices []coll.Algorithm, can func(coll.Point) []coll.Algorithm, measured Measured, scale func(coll.Point) float64, opt metrics.Options) ([]Risk, error) {
	here := func(i int) []coll.Algorithm { return can(points[i]) }
	return l.risks(points, choices, here, measured, scale, opt)
}

// RisksBeside is Risks where each choice has a single rival.
func (l *Learner) RisksBeside(points []coll.Point, choices, rivals []coll.Algorithm, measured Measured, scale func(coll.Point) float64, opt metrics.Options) ([]Risk, error) {
	both := func(i int) []coll.Algorithm { return []coll.Algorithm{choices[i], rivals[i]} }
	return l.risks(points, choices, both, measured, scale, opt)
}

// risks is Risks for the algorithms that can run at the i-th point.
func (l *Learner) risks(points []coll.Point, choices []coll.Algorithm, can func(i int) []coll.Algorithm, measured Measured, scale func(coll.Point) float64, opt metrics.Options) ([]Risk, error) {
	if l.gaussian == nil {
		return nil, errForests
	}
	out := make([]Risk, 0, len(points))
	for first := 0; first < len(points); first += riskBlock {
		end := min(first+riskBlock, len(points))
		b := sides{at: points[first:end], chosen: make([]int, end-first)}
		for i := first; i < end; i++ {
			if err := b.add(l.algorithms, i-first, choices[i], can(i), measured); err != nil {
				return nil, err
			}
		}
		rivals, err := b.rivals(l.gaussian, scale)
		if err != nil {
			return nil, err
		}
		for _, here := range rivals {
			out = append(out, RiskOf(here, opt))
		}
	}
	return out, nil
}

// sides are algorithms at points, and which of them are chosen.
type sides struct {
	at      []coll.Point
	chosen  []int // of each point, in all
	all     []side
	entries []gp.Entry // of what was not measured
}

// side is an algorithm at a point: its time, and what that is off by.
type side struct {
	point int
	entry int     // -1 where it was measured
	value float64 // log10 seconds
	noise float64 // 0 where it is predicted
}

// add adds those of the algorithms that can run at a point.
func (b *sides) add(algorithms []coll.Algorithm, point int, choice coll.Algorithm, can []coll.Algorithm, measured Measured) error {
	b.chosen[point] = -1
	for a, alg := range algorithms {
		if !slices.Contains(can, alg) {
			continue
		}
		if alg == choice {
			b.chosen[point] = len(b.all)
		}
		s := side{point: point, entry: -1}
		if m, seen := measured[coll.Candidate{Point: b.at[point], Algorithm: alg}]; seen {
			s.value, s.noise = m.Log, m.Noise
		} else {
			s.entry = len(b.entries)
			b.entries = append(b.entries, gp.Entry{Row: point, Task: a})
		}
		b.all = append(b.all, s)
	}
	if b.chosen[point] < 0 {
		return fmt.Errorf("risk of %q at %v: nothing is known of it there", choice, b.at[point])
	}
	return nil
}

// rivals are those of the choice at each point.
func (b *sides) rivals(gaussian *gp.GP, scale func(coll.Point) float64) ([][]Rival, error) {
	posterior, err := gaussian.Posterior(preprocess.SurrogateRows(b.at), b.entries)
	if err != nil {
		return nil, err
	}
	for i := range b.all {
		if s := &b.all[i]; s.entry >= 0 {
			s.value = posterior.Mean(s.entry)
		}
	}
	out := make([][]Rival, len(b.at))
	for i, s := range b.all {
		if best := b.chosen[s.point]; i != best {
			c := b.all[best]
			out[s.point] = append(out[s.point], Rival{Gap: s.value - c.value, SD: math.Sqrt(spread(posterior, c, s, scale(b.at[s.point])))})
		}
	}
	return out, nil
}

// spread is the variance of the difference of two sides: that of the predicted ones,
// scaled, and the noise of the measured ones.
func spread(p *gp.Posterior, a, b side, scale float64) float64 {
	v := 0.0
	switch {
	case a.entry >= 0 && b.entry >= 0:
		v = p.Difference(a.entry, b.entry)
	case a.entry >= 0:
		v = p.Variance(a.entry)
	case b.entry >= 0:
		v = p.Variance(b.entry)
	}
	return v*scale*scale + a.noise + b.noise
}

// Standardised returns, for measurements that the Gaussian process has not seen, the
// difference of log10 seconds and prediction over the deviation that it predicts, and which they
// are: those of algorithms that it does not know are left out.
func (l *Learner) Standardised(ms []coll.Measurement) (known []coll.Measurement, errors []float64, err error) {
	if l.gaussian == nil {
		return nil, nil, errForests
	}
	var points []coll.Point
	var entries []gp.Entry
	for _, m := range ms {
		if a, ok := slices.BinarySearchFunc(l.algorithms, m.Algorithm, coll.CompareAlgorithms); ok {
			entries = append(entries, gp.Entry{Row: len(points), Task: a})
			points, known = append(points, m.Point), append(known, m)
		}
	}
	if len(points) == 0 {
		return nil, nil, nil
	}
	posterior, err := l.gaussian.Posterior(preprocess.SurrogateRows(points), entries)
	if err != nil {
		return nil, nil, err
	}
	errors = make([]float64, len(points))
	for i := range entries {
		errors[i] = (math.Log10(known[i].Seconds) - posterior.Mean(i)) / math.Sqrt(posterior.Variance(i)+l.noise.Of(known[i]))
	}
	return known, errors, nil
}

// Rival is an algorithm beside the one that is chosen: log10 of its time over that of
// the choice is normal with mean Gap and deviation SD.
type Rival struct {
	Gap, SD float64 // decades
}

// RiskOf returns the risk of a choice beside its rivals: each figure is that of the rival
// which makes it worst. A sum over the rivals would count the uncertainty of the choice's
// own time once for each of them.
//
// With x the natural logarithm of choice over rival, normal with mean -m and deviation s,
// E[eᵏˣ; x > 0] = e^(k²s²/2-km)·Φ((ks²-m)/s), the partial moment of a log-normal variable.
func RiskOf(rivals []Rival, opt metrics.Options) Risk {
	mistake, tie := opt.Thresholds()
	out := Risk{Best: 1}
	for _, r := range rivals {
		m, s := r.Gap*math.Ln10, min(max(r.SD*math.Ln10, 1e-9), 10) // powers of e^10² are numbers
		above := func(k float64) float64 { return math.Exp(k*k*s*s/2-k*m) * distuv.UnitNormal.CDF((k*s*s-m)/s) }
		out.Loss = max(out.Loss, min(riskMost, above(1)-above(0)))
		out.Square = max(out.Square, min(riskMost*riskMost, above(2)-2*above(1)+above(0)))
		out.Mistake = max(out.Mistake, distuv.UnitNormal.CDF(-(m+math.Log1p(mistake))/s))
		out.Best = min(out.Best, distuv.UnitNormal.CDF((m+math.Log1p(tie))/s))
	}
	return out
}
