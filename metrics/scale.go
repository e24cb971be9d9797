package metrics

import "math"

// Scale estimates by which factor the errors of predictions exceed the deviations that
// were predicted for them: the root mean square of the standardised errors. An error counts
// as at most three, since a greater one may be the measurement's fault. The zero value is a
// scale of 1.
type Scale struct {
	Square float64 // of the scale
	Weight float64 // errors that it rests on
}

const (
	scalePrior  = 10 // errors that the scale 1 is worth before there are any
	scaleMemory = 60 // errors that are remembered: models change as they learn
	scaleMost   = 3  // what an error counts as at most
)

// Add returns the scale after further standardised errors; what was known before counts as
// Weight errors.
func (s Scale) Add(errors []float64) Scale {
	s = s.known()
	sum, n := s.Weight*s.Square, s.Weight+float64(len(errors))
	for _, z := range errors {
		z = min(math.Abs(z), scaleMost)
		sum += z * z
	}
	return Scale{Square: sum / n, Weight: min(scaleMemory, n)}
}

func (s Scale) known() Scale {
	if s.Weight == 0 {
		return Scale{Square: 1, Weight: scalePrior}
	}
	return s
}

// Root is the scale.
func (s Scale) Root() float64 { return math.Sqrt(s.known().Square) }
