package learner

import (
	"fmt"
	"math"

	"tutti/preprocess"
	"tutti/surrogate/gp"
)

// Prior is what is taken to hold on every machine, beside what is learnt there. Other values
// than those of DefaultPrior are for studies of the method.
type Prior struct {
	Lengths float64 // factor of preprocess.LengthScales
	// Steps is the part of each algorithm's own variance that goes by steps: libraries change
	// protocols and algorithms their course at thresholds.
	Steps float64
	// Split is the part of it that each message size has of its own, in all layouts: what holds
	// on either side of a size need not hold at it, and protocols change at sizes.
	Split float64
}

// DefaultPrior is our choice: with a split stops are right more often where noise is real, steps
// of 0.3 to 0.7 lose about as much as none on recorded machines; see docs/method.md.
func DefaultPrior() Prior { return Prior{Lengths: 1, Steps: 0.5, Split: 0.1} }

// Validate says what is wrong with a prior.
func (p Prior) Validate() error {
	if !(p.Lengths > 0) || math.IsInf(p.Lengths, 0) {
		return fmt.Errorf("lengths %g: want a number above 0", p.Lengths)
	}
	if !(p.Steps >= 0 && p.Steps <= 1) {
		return fmt.Errorf("steps %g: want a number from 0 to 1", p.Steps)
	}
	if !(p.Split >= 0 && p.Split <= 1) {
		return fmt.Errorf("split %g: want a number from 0 to 1", p.Split)
	}
	return nil
}

// Options are those of a Gaussian process that begins with the prior.
func (p Prior) Options() gp.Options {
	length := preprocess.LengthScales()
	for i := range length {
		length[i] *= p.Lengths
	}
	return gp.Options{
		Length: length, Steps: p.Steps, Split: p.Split, SplitColumn: preprocess.BytesColumn, Noise: preprocess.MeasurementNoise,
	}
}
