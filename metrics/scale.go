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

// Root is the scale.
func (s Scale) Root() float64 { return math.Sqrt(s.known().Square) }
