package campaign

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"tutti/coll"
	"tutti/selection"
)

// Standard deviations of the logarithm of the tuned time over the default's, by which points are ranked before a
// verification. They decide only which points are tested first. Source: on the demo, 6 of 4 792 points at which both
// were measured and 40 of 2 427 others were more than 2 % slower, the worst 1.97 times.
const (
	measuredDeviation  = 0.03
	predictedDeviation = 0.15
)

// Risk returns how much slower than the library's default the selection is expected to be at a point: the mean of the
// logarithm of the ratio where it is above 0. It is 0 where the default is selected.
func (c FinalSelection) Risk(at coll.Point) float64 {
	gain, deviation, changed := c.gain(at)
	if !changed {
		return 0
	}
	z := gain / deviation
	return max(0, deviation*(distuv.UnitNormal.Prob(z)-z*distuv.UnitNormal.Survival(z))) // rounding errors where z is large
}

// PSlower returns the probability that the selection is slower than the library's default at a point by more than
// `tolerance`, 0.02 for 2 %. It is 0 where the default is selected.
func (c FinalSelection) PSlower(at coll.Point, tolerance float64) float64 {
	gain, deviation, changed := c.gain(at)
	if !changed {
		return 0
	}
	return distuv.UnitNormal.Survival((gain + math.Log1p(tolerance)) / deviation)
}

// gain returns the expected logarithm of the default's time over that of the selection at a point, and its standard
// deviation. It returns false where the default is selected.
func (c FinalSelection) gain(at coll.Point) (gain, deviation float64, changed bool) {
	choice := c.Selection.Choose(at)
	i, found := slices.BinarySearchFunc(c.Rows, at, func(r selection.Row, p coll.Point) int { return coll.ComparePoints(r.Point, p) })
	if choice.IsDefault() || !found {
		return 0, 0, false
	}
	seconds := func(alg coll.Algorithm) float64 {
		for _, o := range c.Rows[i].Options {
			if o.Algorithm == alg {
				return o.Seconds
			}
		}
		return math.NaN()
	}
	gain = math.Log(seconds(coll.Default) / seconds(choice))
	if math.IsNaN(gain) {
		gain = 0
	}
	deviation = predictedDeviation
	measured := func(alg coll.Algorithm) bool {
		return c.alternatives.Measured(coll.Candidate{Point: at, Algorithm: alg})
	}
	if measured(choice) && measured(coll.Default) {
		deviation = measuredDeviation
	}
	return gain, deviation, true
}
