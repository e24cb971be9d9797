package metrics

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// The constants of the calibrations are our own choice; see docs/method.md.
const (
	mistakeMemory = 8    // expected mistakes that are remembered; older ones fade, since models change as they learn
	mistakeLevel  = 0.95 // probability that the factor is below Upper
	priorFound    = 2    // prior: mistakes found,
	priorExpected = 3    // and mistakes expected

	scaleWidth  = 3  // octaves: an error at distance d has the weight e^(-(d/3)²/2)
	scalePrior  = 5  // weight of the scale 1 before any error
	scaleMemory = 60 // total weight of the errors that are remembered
	scaleMax    = 3  // larger errors count as this many standard deviations
)

// MistakeCalibration compares the expected number of mistakes with the number that was found, in order to
// correct later predictions. The number found is a Poisson variable with the mean factor · Expected, where
// the factor has a gamma distribution. The zero value is the prior.
type MistakeCalibration struct {
	Expected, Found float64 // mistakes
}

// Add returns the calibration after further choices. The parameters are the expected number of mistakes
// among these choices, and the number that was found.
func (c MistakeCalibration) Add(expected, found float64) MistakeCalibration {
	c.Expected += expected
	c.Found += found
	if c.Expected > mistakeMemory {
		c.Found *= mistakeMemory / c.Expected
		c.Expected = mistakeMemory
	}
	return c
}

// factor returns the distribution of the factor that corrects predicted mistakes.
func (c MistakeCalibration) factor() distuv.Gamma {
	return distuv.Gamma{Alpha: priorFound + c.Found, Beta: priorExpected + c.Expected}
}

// Mean returns the mean of the factor that corrects predicted mistakes.
func (c MistakeCalibration) Mean() float64 { return c.factor().Mean() }

// Upper returns the 95 % quantile of the factor that corrects predicted mistakes.
func (c MistakeCalibration) Upper() float64 { return c.factor().Quantile(mistakeLevel) }

// ErrorScale estimates by which factor prediction errors exceed the predicted standard deviations. It is
// the root mean square of the standardized errors. Recent errors and errors at similar message sizes have
// the greatest weights. An error above three counts as three, since its measurement may be an outlier. The
// zero value is a scale of 1.
type ErrorScale struct {
	octaves []float64 // message size of each error, as octave returns it
	squares []float64
}

// Add adds a standardized error: an error divided by its predicted standard deviation. The parameter bytes
// is the message size.
func (s *ErrorScale) Add(bytes int64, err float64) {
	z := min(math.Abs(err), scaleMax)
	s.octaves, s.squares = append(s.octaves, octave(bytes)), append(s.squares, z*z)
}

// At returns the scale at a message size in bytes. It takes O(n) operations for n errors.
func (s *ErrorScale) At(bytes int64) float64 {
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

// octave returns log2(bytes + 1). The 1 makes it finite for an empty message.
func octave(bytes int64) float64 { return math.Log2(float64(bytes) + 1) }
