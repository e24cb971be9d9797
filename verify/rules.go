package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"tutti/metrics"
)

// Rules say when the selection counts as slower than the library's default at a point. They also say how many
// measurements are made to decide this. The rules of a session do not change.
type Rules struct {
	Seed      uint64  `json:"seed"`
	Tolerance float64 `json:"tolerance"`  // slowdown that still counts as equal: 0.02 for 2 %
	Alpha     float64 `json:"alpha"`      // probability of at least one false alarm in a session
	Detect    float64 `json:"detect"`     // slowdown that a confirmation can detect, if MaxBlocks allows enough blocks
	Suspicion float64 `json:"suspicion"`  // p-value below which screening makes a point a suspect, without correction
	Precision float64 `json:"precision"`  // screening ends when the interval of the ratio is at most ± this wide
	MinBlocks int     `json:"min_blocks"` // fewest blocks of a screening
	MaxBlocks int     `json:"max_blocks"` // most blocks of a screening; a confirmation has at most twice as many, or as many as the correction needs
	Passes    int     `json:"passes"`     // passes after which whole collectives are reverted
	Points    int     `json:"points"`     // grid points of a collective; more where the selection has more segments
	Between   int     `json:"between"`    // points of a collective between those of the grid
	Controls  int     `json:"controls"`   // grid points of a collective that are left to the library
}

// DefaultRules returns the rules of a campaign whose configuration sets none.
func DefaultRules() Rules {
	return Rules{
		Tolerance: 0.02, Alpha: 0.05, Detect: 0.05, Suspicion: 0.15, Precision: 0.02,
		MinBlocks: 6, MaxBlocks: 20, Passes: 10, Points: 60, Between: 20, Controls: 4,
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

// alphaOf returns the error probability of a pass, numbered from 1. It is proportional to 1/n² for pass n, so
// that the sum over all passes is at most Alpha.
func (r Rules) alphaOf(pass int) float64 {
	return r.Alpha * 6 / (math.Pi * math.Pi * float64(pass*pass))
}

// limit returns the logarithm of the largest ratio that does not count as slower.
func (r Rules) limit() float64 { return math.Log1p(r.Tolerance) }

// confirmationBlocks returns the number of blocks of a confirmation. The parameter `suspects` is the number of
// suspects, and `deviation` is the standard deviation of a suspect's logarithmic ratios in the screening. The number
// is enough to find a slowdown of Detect with probability 0.9, unless MaxBlocks is lower. It is always so large that
// the test can reject.
//
// Source: the sample size of the t test times π/3, the reciprocal of the efficiency of the signed-rank test
// for normal errors (Hollander, Wolfe and Chicken, 2014, §3.11). The deviation comes from an earlier sample
// as in Stein's procedure (1945).
func (r Rules) confirmationBlocks(pass, suspects int, deviation float64) int {
	level := r.alphaOf(pass) / float64(suspects)
	able := int(math.Ceil(-math.Log2(level))) + 3
	distance := math.Log1p(r.Detect) - r.limit()
	quantiles := distuv.UnitNormal.Quantile(1-level) + distuv.UnitNormal.Quantile(0.9)
	wanted := math.Pow(quantiles*deviation/distance, 2) * math.Pi / 3
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

// medianOf returns the median of one or more values with its confidence interval. With n < 6 values the
// interval is their range, which contains the true median with probability 1-2^(1-n).
func medianOf(values []float64) Interval {
	middle, i, err := metrics.MedianInterval(values, 0.95)
	if err != nil {
		panic(err) // no values, a bug of the caller
	}
	if i == (metrics.Interval{}) {
		i = metrics.Interval{Low: slices.Min(values), High: slices.Max(values)}
	}
	return Interval{Value: middle, Low: i.Low, High: i.High}
}

func (i Interval) exp() Interval {
	return Interval{math.Exp(i.Value), math.Exp(i.Low), math.Exp(i.High)}
}
