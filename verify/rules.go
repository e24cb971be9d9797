package verify

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Rules say when a point counts as slower and how much is measured to know it.
// A session keeps those it began with.
type Rules struct {
	Seed      uint64  `json:"seed"`
	Tolerance float64 `json:"tolerance"`  // slower means by more than this: 0.02 for 2 %
	Alpha     float64 `json:"alpha"`      // probability of one false alarm or more in a session
	Detect    float64 `json:"detect"`     // a slowdown that second looks are long enough for, where MaxBlocks allows
	Suspicion float64 `json:"suspicion"`  // level of the first look, uncorrected
	Precision float64 `json:"precision"`  // first looks end when the interval of the ratio is no wider than ± this
	MinBlocks int     `json:"min_blocks"` // of a first look
	MaxBlocks int     `json:"max_blocks"` // of a first look; a second one has at most twice as many, or what the correction needs
	Passes    int     `json:"passes"`     // before collectives are left to the library
	Points    int     `json:"points"`     // grid points of a collective; more where the selection has more places
	Between   int     `json:"between"`    // points off the grid, of a collective
	Controls  int     `json:"controls"`   // grid points of a collective that the file leaves to the library
}

// DefaultRules are those of a campaign that says nothing else.
func DefaultRules() Rules {
	return Rules{
		Tolerance: 0.02, Alpha: 0.05, Detect: 0.05, Suspicion: 0.15, Precision: 0.02,
		MinBlocks: 6, MaxBlocks: 20, Passes: 10, Points: 60, Between: 20, Controls: 4,
	}
}

// Validate reports every fault of the rules at once.
func (r Rules) Validate() error {
	var faults []error
	share := func(name string, v float64) {
		if !(v > 0 && v < 1) {
			faults = append(faults, fmt.Errorf("%s: %g: want a number between 0 and 1", name, v))
		}
	}
	atLeast := func(name string, v, least int) {
		if v < least {
			faults = append(faults, fmt.Errorf("%s: %d: want %d or more", name, v, least))
		}
	}
	if !(r.Tolerance >= 0 && r.Tolerance < 1) {
		faults = append(faults, fmt.Errorf("tolerance: %g: want a number from 0 to 1", r.Tolerance))
	}
	share("alpha", r.Alpha)
	share("suspicion", r.Suspicion)
	share("precision", r.Precision)
	if !(r.Detect > r.Tolerance && r.Detect < 10) {
		faults = append(faults, fmt.Errorf("detect: %g: want more than the tolerance of %g", r.Detect, r.Tolerance))
	}
	atLeast("min blocks", r.MinBlocks, 2)
	atLeast("max blocks", r.MaxBlocks, r.MinBlocks)
	atLeast("passes", r.Passes, 1)
	atLeast("points", r.Points, 1)
	atLeast("between", r.Between, 0)
	atLeast("controls", r.Controls, 0)
	return errors.Join(faults...)
}

// alphaOf is what pass n may spend: 1/n² of them all, whose sum is π²/6.
func (r Rules) alphaOf(pass int) float64 {
	return r.Alpha * 6 / (math.Pi * math.Pi * float64(pass*pass))
}

// limit is the logarithm of the largest ratio that does not count as slower.
func (r Rules) limit() float64 { return math.Log1p(r.Tolerance) }

// secondBlocks is the length of a second look at one of so many suspects whose
// ratios spread as they did at the first look: enough to find a slowdown of Detect
// nine times out of ten if MaxBlocks allows, and enough for the test to be able to
// reject at all.
//
// Source: the sample size of the t test, by 3/π, the efficiency of the signed-rank
// test for normal errors (Hollander, Wolfe and Chicken, 2014, §3.11). Taking the
// spread from an earlier sample is Stein's procedure (1945).
func (r Rules) secondBlocks(pass, suspects int, deviation float64) int {
	level := r.alphaOf(pass) / float64(suspects)
	able := int(math.Ceil(-math.Log2(level))) + 3
	distance := math.Log1p(r.Detect) - r.limit()
	quantiles := distuv.UnitNormal.Quantile(1-level) + distuv.UnitNormal.Quantile(0.9)
	wanted := math.Pow(quantiles*deviation/distance, 2) * math.Pi / 3
	return max(able, int(math.Ceil(min(wanted, 2*float64(r.MaxBlocks)))))
}
