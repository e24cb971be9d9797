package metrics

import "math"

// Scale follows by how much the errors of predictions are wider than they were said to
// be: the root of their mean square, once standardised and cut off at three, since a
// wild one may be the measurement's fault. The zero value says nothing and means 1.
type Scale struct {
	Square float64 // of the scale
	Weight float64 // errors that it rests on
}

const (
	scalePrior  = 10 // errors that the scale 1 is worth before there are any
	scaleMemory = 60 // errors that are remembered: models change as they learn
	scaleMost   = 3  // greatest error that counts: beyond it is what heavy tails are for
)

// Add takes further errors in; what is known counts as Weight of them.
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

// At is the scale, z of its own standard errors up, where an error tells of the logarithm
// of the scale what one of Student's t with four degrees of freedom does: 8/7 (Lange,
// Little and Taylor, J. American Statistical Association 84, 1989).
func (s Scale) At(z float64) float64 {
	s = s.known()
	return math.Sqrt(s.Square) * math.Exp(z*math.Sqrt(7/8./s.Weight))
}
