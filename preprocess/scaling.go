package preprocess

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"tutti/coll"
)

// Scaling is the name of a transformation from times to the targets of a model. Each transformation is
// monotonic: the fastest algorithm at a point has the smallest target.
//
// Source of the five scalings: Wilkins et al., A FACT-based Approach, ExaMPI 2021, section IV-A,
// which finds AlgorithmLog10 best.
type Scaling string

// The scalings. t is a time in seconds, and best(p) is the fastest time that was measured at the point p.
const (
	None           Scaling = "none"            // t
	Standard       Scaling = "standard"        // (t - mean) / standard deviation
	Normal         Scaling = "normal"          // (t - smallest) / (largest - smallest)
	Algorithm      Scaling = "algorithm"       // t / best(p)
	AlgorithmLog10 Scaling = "algorithm_log10" // log10(t / best(p))
)

// DefaultScaling is the scaling that Wilkins et al. (ExaMPI 2021) found best.
const DefaultScaling = AlgorithmLog10

// Scalings returns all scalings: none, then the others in the order of their definitions.
func Scalings() []Scaling {
	return []Scaling{None, Standard, Normal, Algorithm, AlgorithmLog10}
}

// Validate returns an error that lists all scalings if s is none of them.
func (s Scaling) Validate() error {
	if slices.Contains(Scalings(), s) {
		return nil
	}
	return fmt.Errorf("unknown scaling %q: want one of %s", s, strings.Join(coll.Words(Scalings()), ", "))
}

// Scaler scales the times of one collective with parameters learned by Fit. It is immutable and
// safe for concurrent use.
type Scaler struct {
	scaling    Scaling
	collective coll.Collective
	shift      float64 // of the linear scalings: (t - shift) / unit
	unit       float64
	smallest   float64                // training time, seconds
	best       map[coll.Point]float64 // fastest training time of each point, seconds
}

// Fit learns the parameters of a scaling from measurements of all algorithms of one collective. It returns
// an error if there are no measurements, if they are of several collectives, or if a time is not positive
// and finite.
func Fit(ms iter.Seq[coll.Measurement], s Scaling) (*Scaler, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	scaler := &Scaler{scaling: s, unit: 1, smallest: math.Inf(1), best: map[coll.Point]float64{}}
	var times []float64 // for the scalings that need all of them
	for m := range ms {
		if err := m.Validate(); err != nil {
			return nil, fmt.Errorf("scaling %s: %w", s, err)
		}
		if len(scaler.best) == 0 {
			scaler.collective = m.Collective
		}
		if m.Collective != scaler.collective {
			return nil, fmt.Errorf("scaling %s: measurements of %s and %s, want one collective", s, scaler.collective, m.Collective)
		}
		if s == Standard || s == Normal {
			times = append(times, m.Seconds)
		}
		scaler.smallest = min(scaler.smallest, m.Seconds)
		lower(scaler.best, m)
	}
	if len(scaler.best) == 0 {
		return nil, errors.New("scaling " + string(s) + ": no measurements")
	}
	return scaler, scaler.fitLinear(times)
}

// fitLinear sets the shift and the unit of a linear scaling. If all times are equal, the unit is one
// second.
func (s *Scaler) fitLinear(times []float64) error {
	width := 0.0
	switch s.scaling {
	case Standard:
		s.shift, width = stat.PopMeanStdDev(times, nil)
	case Normal:
		s.shift, width = s.smallest, floats.Max(times)-s.smallest
	}
	if math.IsInf(s.shift, 0) || math.IsInf(width, 0) || math.IsNaN(width) {
		return fmt.Errorf("scaling %s: times up to %g s are too large", s.scaling, floats.Max(times))
	}
	if width > 0 {
		s.unit = width
	}
	return nil
}

func lower(best map[coll.Point]float64, m coll.Measurement) {
	if t, ok := best[m.Point]; !ok || m.Seconds < t {
		best[m.Point] = m.Seconds
	}
}

// Apply returns the target of each measurement. All targets are finite.
//
// The scalings Algorithm and AlgorithmLog10 divide by the fastest time at the point. It is searched among
// the training measurements and `ms`. If a measurement is invalid, Apply panics; see
// coll.Measurement.Validate.
func (s *Scaler) Apply(ms []coll.Measurement) []float64 {
	targets := make([]float64, len(ms))
	fresh := map[coll.Point]float64{}
	for _, m := range ms {
		if err := m.Validate(); err != nil {
			panic("preprocess: Apply: " + err.Error())
		}
		lower(fresh, m)
	}
	for i, m := range ms {
		best := fresh[m.Point]
		if t, ok := s.best[m.Point]; ok {
			best = min(best, t)
		}
		switch s.scaling {
		case Algorithm:
			targets[i] = min(m.Seconds/best, math.MaxFloat64)
		case AlgorithmLog10:
			// The difference of logarithms is finite even if the quotient of the times would overflow.
			targets[i] = math.Log10(m.Seconds) - math.Log10(best)
		default:
			targets[i] = (m.Seconds - s.shift) / s.unit
		}
	}
	return targets
}

// Relative converts the scaled values of several algorithms at one point into values that are proportional to
// their times. The results are positive, finite and in the same order. Their unit is a second for the linear
// scalings. For the scalings Algorithm and AlgorithmLog10 it is the fastest time at the point.
//
// With a linear scaling a predicted time can be negative. Relative raises times that are below the smallest
// training time to this time. With the scaling Algorithm a value is a ratio to the fastest time, and ratios
// below 1 become 1. With AlgorithmLog10 results are limited so that the quotient of two results is finite. A
// value that is not finite is an error.
func (s *Scaler) Relative(values []float64) ([]float64, error) {
	most := math.Sqrt(math.MaxFloat64)
	out := make([]float64, len(values))
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("relative time from %s: value %d is %g: want a finite number", s.scaling, i, v)
		}
		switch s.scaling {
		case Algorithm:
			out[i] = max(v, 1)
		case AlgorithmLog10:
			out[i] = max(1/most, min(math.Pow(10, v), most))
		default:
			out[i] = min(max(v*s.unit+s.shift, s.smallest), math.MaxFloat64)
		}
	}
	return out, nil
}
