package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"tutti/metrics"
)

// Rules say when the selection counts as slower than the library's default at a point. They also say how many
// measurements are made to decide this. The rules of a session do not change.
type Rules struct {
	Seed      uint64  `json:"seed"`
	Tolerance float64 `json:"tolerance"`  // slowdown that still counts as equal: 0.02 for 2 %
	Alpha     float64 `json:"alpha"`      // probability of at least one false alarm in a session
	Detect    float64 `json:"detect"`     // a point is not slower if the upper end of its slowdown is at most this
	Share     float64 `json:"share"`      // largest share of slower points among those that were not tested
	Suspicion float64 `json:"suspicion"`  // p-value below which screening makes a point a suspect, without correction
	MinBlocks int     `json:"min_blocks"` // fewest blocks of a screening
	MaxBlocks int     `json:"max_blocks"` // most blocks of a screening; a confirmation has at most twice as many, or as many as the correction needs
	Passes    int     `json:"passes"`     // passes after which whole collectives are reverted
	Points    int     `json:"points"`     // grid points of the random sample of a library
	Between   int     `json:"between"`    // points of a collective between those of the grid
	Controls  int     `json:"controls"`   // grid points of a collective that are left to the library

	Timed bool `json:"timed,omitzero"` // weights of points are shares of the default's time: Result.Time is a ratio of sums, not a geometric mean
}

// DefaultRules returns the rules of a campaign whose configuration sets none.
func DefaultRules() Rules {
	return Rules{
		Tolerance: 0.02, Alpha: 0.05, Detect: 0.05, Share: 0.05, Suspicion: 0.15,
		MinBlocks: 6, MaxBlocks: 20, Passes: 10, Points: 62, Between: 20, Controls: 4,
	}
}

// Validate returns all faults of the rules in one error.
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
	share("share", r.Share)
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

// alphaOf returns the error probability of a pass, numbered from 1. It is proportional to 1/n² for pass n, so
// that the sum over all passes is at most Alpha.
func (r Rules) alphaOf(pass int) float64 {
	return r.Alpha * 6 / (math.Pi * math.Pi * float64(pass*pass))
}

// levelOf returns the level of the tests of a pass. It is at most that of the intervals that are shown next to them.
func (r Rules) levelOf(pass int) float64 { return min(r.alphaOf(pass), 0.025) }

// limit returns the logarithm of the largest ratio that does not count as slower.
func (r Rules) limit() float64 { return math.Log1p(r.Tolerance) }

// clearError is the largest probability that a point that is slower by Detect counts as not slower.
const clearError = 0.05

// looks is the number of times at which the screening of a point may find that it is not slower. Each look may err
// with its part of clearError (Bonferroni).
const looks = 3

// isLook reports whether a screening looks at a point after so many blocks: after MinBlocks, twice as many, and
// MaxBlocks.
func (r Rules) isLook(blocks int) bool {
	return blocks == r.MinBlocks || blocks == 2*r.MinBlocks || blocks >= r.MaxBlocks
}

// upper returns the upper end of a point's logarithmic ratio, which may be infinite.
func upper(ratios []float64) float64 {
	_, i, err := metrics.SignedRankInterval(ratios, clearError/looks)
	if err != nil {
		return math.Inf(1) // no values
	}
	return i.High
}

// isClear reports whether the ratios show that a point is not slower by more than Detect.
func (r Rules) isClear(ratios []float64) bool {
	return len(ratios) >= r.MinBlocks && upper(ratios) <= math.Log1p(r.Detect)
}

// futile reports whether a point will probably become neither clear nor a suspect within MaxBlocks, by the spread of
// its ratios so far. The point gets no more blocks. This can only miss a proof, never give one.
func (r Rules) futile(ratios []float64) bool {
	center, _, err := metrics.SignedRankInterval(ratios, clearError/looks)
	if err != nil {
		return true
	}
	distance := max(math.Log1p(r.Detect)-center, math.Log1p(r.Detect)-r.limit())
	wanted := math.Pow(distuv.UnitNormal.Quantile(1-clearError/looks)*stat.StdDev(ratios, nil)/distance, 2)
	return wanted > 1.5*float64(r.MaxBlocks)
}

// confirmationBlocks returns the number of blocks of a confirmation, from the number of suspects and the logarithmic
// ratios of one of them in the screening. The number is enough to find a slowdown of Detect with probability 0.98,
// unless MaxBlocks is lower. It is always so large that the test can reject.
//
// Source: the sample size of Stein's two-stage procedure (1945) times π/3, the reciprocal of the efficiency of the
// signed-rank test for normal errors (Hollander, Wolfe and Chicken, 2014, §3.11).
func (r Rules) confirmationBlocks(pass, suspects int, ratios []float64) int {
	level := r.levelOf(pass) / float64(suspects)
	able := int(math.Ceil(-math.Log2(level))) + 3
	if len(ratios) < 2 {
		return able
	}
	distance := math.Log1p(r.Detect) - r.limit()
	t := distuv.StudentsT{Sigma: 1, Nu: float64(len(ratios) - 1)}
	wanted := math.Pow((t.Quantile(1-level)+t.Quantile(0.98))*stat.StdDev(ratios, nil)/distance, 2) * math.Pi / 3
	return max(able, int(math.Ceil(min(wanted, 2*float64(r.MaxBlocks)))))
}

// Interval is a value with its 95 % confidence interval. The zero interval is unknown, null in JSON.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func (i Interval) MarshalJSON() ([]byte, error) {
	if i == (Interval{}) {
		return []byte("null"), nil
	}
	type plain Interval // without this method
	return json.Marshal(plain(i))
}

// intervalOf returns the Hodges-Lehmann estimate of one or more values with its 95 % interval, from the same test as
// the outcomes. With n < 6 values the interval is their range, which contains the center with probability 1-2^(1-n).
func intervalOf(values []float64) Interval {
	center, i, err := metrics.SignedRankInterval(values, 0.025)
	if err != nil {
		panic(err) // no values, a bug of the caller
	}
	return Interval{Value: center, Low: max(i.Low, slices.Min(values)), High: min(i.High, slices.Max(values))}
}

func (i Interval) exp() Interval {
	return Interval{math.Exp(i.Value), math.Exp(i.Low), math.Exp(i.High)}
}
