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

// Risk is the expected quality of the choice at one point, given the measurements.
type Risk struct {
	Loss    float64 // expected slowdown, minus one
	Square  float64 // expected square of the slowdown minus one
	Mistake float64 // probability of a mistake, see metrics.Options
	Best    float64 // probability that no algorithm is faster by more than a tie
}

// MeasuredTime is a measured time, as log10 of seconds, together with the variance of its noise.
type MeasuredTime struct{ Log, Noise float64 }

// RiskQuery describes the choices whose risks should be computed. There is one choice at each point.
type RiskQuery struct {
	Points  []coll.Point
	Choices []coll.Algorithm // at each point; need not be the learner's own
	// Open returns the algorithms with which the choice at Points[i] is compared. They must include the
	// choice itself.
	Open     func(i int) []coll.Algorithm
	Measured map[coll.Candidate]MeasuredTime // replace predictions
	Scale    func(coll.Point) float64        // factor of the predicted standard deviations at a point
	Metrics  metrics.Options
}

const (
	// maxLoss limits the expected loss. It is the loss of a choice that takes ten times as long as its
	// rival.
	maxLoss = 9
	// minRatioSD and maxRatioSD are bounds of the standard deviation of a ratio's natural logarithm. The
	// lower bound avoids divisions by zero. With the upper bound, the exponential of the variance stays
	// finite.
	minRatioSD, maxRatioSD = 1e-9, 10
)

// Risks returns the risk of each choice; see RiskOf. The Gaussian process predicts every time that was not
// measured. The only uncertainty of a measured time is its noise.
//
// It returns an error for the model Forest. It also returns an error if Open does not contain a choice, or
// if the Gaussian process does not know it. It takes O(points · algorithms · n²) operations for n
// measurements.
func (l *Learner) Risks(q RiskQuery) ([]Risk, error) {
	if l.gaussian == nil {
		return nil, errForests
	}
	out := make([]Risk, 0, len(q.Points))
	for first := 0; first < len(q.Points); first += blockPoints {
		end := min(first+blockPoints, len(q.Points))
		b := comparison{at: q.Points[first:end], chosen: make([]int, end-first)}
		for i := first; i < end; i++ {
			if err := b.add(l.algorithms, i-first, q.Choices[i], q.Open(i), q.Measured); err != nil {
				return nil, err
			}
		}
		rivals, err := b.rivals(l.gaussian, q.Scale)
		if err != nil {
			return nil, err
		}
		for _, here := range rivals {
			out = append(out, RiskOf(here, q.Metrics))
		}
	}
	return out, nil
}

// comparison holds the algorithms that are compared at several points, and the choice at each
// point.
type comparison struct {
	at      []coll.Point
	chosen  []int // index of the choice at each point, in all
	all     []alternative
	entries []gp.Entry // of the alternatives with predicted times
}

// alternative is an algorithm that could be chosen at a point, with its predicted or measured time.
type alternative struct {
	point int
	entry int     // -1 for a measured time
	value float64 // log10 seconds
	noise float64 // variance; 0 for a predicted time
}

// add adds the open algorithms of one point to the comparison, and records which of them is the choice.
func (b *comparison) add(algorithms []coll.Algorithm, point int, choice coll.Algorithm, open []coll.Algorithm, measured map[coll.Candidate]MeasuredTime) error {
	b.chosen[point] = -1
	for a, alg := range algorithms {
		if !slices.Contains(open, alg) {
			continue
		}
		if alg == choice {
			b.chosen[point] = len(b.all)
		}
		s := alternative{point: point, entry: -1}
		if m, seen := measured[coll.Candidate{Point: b.at[point], Algorithm: alg}]; seen {
			s.value, s.noise = m.Log, m.Noise
		} else {
			s.entry = len(b.entries)
			b.entries = append(b.entries, gp.Entry{Row: point, Task: a})
		}
		b.all = append(b.all, s)
	}
	if b.chosen[point] < 0 {
		return fmt.Errorf("risk of %q at %v: the algorithm is not open there or was never measured", choice, b.at[point])
	}
	return nil
}

// rivals returns the rivals of the choice at each point. A rival has a gap and a standard deviation.
func (b *comparison) rivals(gaussian *gp.GP, scale func(coll.Point) float64) ([][]Rival, error) {
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
			sd := math.Sqrt(differenceVariance(posterior, c, s, scale(b.at[s.point])))
			out[s.point] = append(out[s.point], Rival{Gap: s.value - c.value, SD: sd})
		}
	}
	return out, nil
}

// differenceVariance returns the variance of the difference between the logarithms of two times. A
// predicted time contributes its scaled posterior variance, and a measured time contributes its noise.
func differenceVariance(p *gp.Posterior, a, b alternative, scale float64) float64 {
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

// StandardisedErrors compares predictions with measurements that were not used for training. An error is
// log10 of the seconds minus the prediction, divided by the predicted standard deviation including noise.
// known holds the measurement of each error. Measurements of algorithms that the learner does not know are
// ignored.
func (l *Learner) StandardisedErrors(ms []coll.Measurement) (known []coll.Measurement, errors []float64, err error) {
	if l.gaussian == nil {
		return nil, nil, errForests
	}
	var points []coll.Point
	var entries []gp.Entry
	for _, m := range ms {
		if a, ok := l.index(m.Algorithm); ok {
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

// Rival is an algorithm that was not chosen. The logarithm of the ratio of its time to the time of the
// choice is normally distributed. Gap is the mean and SD the standard deviation, both in decades.
type Rival struct {
	Gap, SD float64 // decades
}

// RiskOf returns the risk of a choice compared with its rivals. Each field is the value for the worst
// rival. A sum over the rivals would count the uncertainty of the choice's own time several times.
func RiskOf(rivals []Rival, opt metrics.Options) Risk {
	mistake, tie := opt.Thresholds()
	out := Risk{Best: 1}
	for _, r := range rivals {
		m, s := r.Gap*math.Ln10, min(max(r.SD*math.Ln10, minRatioSD), maxRatioSD)
		above := func(k float64) float64 { return partialMoment(k, m, s) }
		out.Loss = max(out.Loss, min(maxLoss, above(1)-above(0)))
		out.Square = max(out.Square, min(maxLoss*maxLoss, above(2)-2*above(1)+above(0)))
		out.Mistake = max(out.Mistake, distuv.UnitNormal.CDF(-(m+math.Log1p(mistake))/s))
		out.Best = min(out.Best, distuv.UnitNormal.CDF((m+math.Log1p(tie))/s))
	}
	return out
}
