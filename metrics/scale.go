package metrics

import "math"

// Scale estimates by which factor the errors of predictions exceed the deviations that were
// predicted for them: the root mean square of the standardised errors, an average that the
// sizes of messages nearby count in and the latest errors count most in. What is true of the sizes
// that are measured most need not be true of those that are hardly known. An error counts as
// at most three, since a greater one may be the measurement's fault. The zero value is a
// scale of 1.
type Scale struct {
	octaves []float64 // of the errors' sizes
	squares []float64
}

const (
	scaleWidth  = 3  // octaves: an error at distance d counts as much as e^(-(d/3)²/2) of one
	scalePrior  = 5  // errors that the scale 1 is worth before there are any
	scaleMemory = 60 // errors that are remembered: models change as they learn
	scaleMost   = 3  // what an error counts as at most
)

// Add counts a further standardised error, at a size in bytes.
func (s *Scale) Add(bytes int64, err float64) {
	z := min(math.Abs(err), scaleMost)
	s.octaves, s.squares = append(s.octaves, octave(bytes)), append(s.squares, z*z)
}

// At is the scale at a size in bytes. O(n) operations for n errors.
func (s *Scale) At(bytes int64) float64 {
	here := octave(bytes)
	square, weight := 1.0, float64(scalePrior)
	for i, x := range s.octaves {
		d := (x - here) / scaleWidth
		w := math.Exp(-d * d / 2)
		square += w / (weight + w) * (s.squares[i] - square)
		weight = min(scaleMemory, weight+w)
	}
	return math.Sqrt(square)
}

// octave places sizes, that of nothing too, on a logarithmic scale.
func octave(bytes int64) float64 { return math.Log2(float64(bytes) + 1) }
