package report

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// scale maps the values of an axis to where they stand on it. The plots are of
// mapped values on linear axes, with ticks that name the values themselves.
type scale func(float64) float64

func linear(x float64) float64 { return x }

// excess is the scale for slowdowns: linear within near of 1 and logarithmic in
// slowdown-1 beyond, since both 1.01 against 1.03 and 2 against 8 matter.
func excess(x float64) float64 {
	return math.Copysign(math.Log1p(math.Abs(x-1)/near), x-1)
}

// near is where excess turns: 1 %, about the noise of a benchmark.
const near = 0.01

// unexcess is the inverse of excess.
func unexcess(e float64) float64 {
	return 1 + math.Copysign(near*math.Expm1(math.Abs(e)), e)
}

// slowdownSteps are the round values of a slowdown axis.
var slowdownSteps = []float64{
	0.1, 0.2, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 1, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 1e3, 1e4, 1e5, 1e6,
}

// setSlowdowns makes axis a slowdown axis that holds all the values, on the scale
// of excess.
func setSlowdowns(axis *plot.Axis, values []float64) {
	low, high := bounds(values)
	margin := max(0.06*(excess(high)-excess(low)), 0.05)
	axis.Min, axis.Max = excess(low)-margin, excess(high)+margin
	var steps []float64
	for _, x := range slowdownSteps {
		if excess(x) >= axis.Min && excess(x) <= axis.Max {
			steps = append(steps, x)
		}
	}
	if len(steps) < 3 {
		steps = roundSteps(unexcess(axis.Min), unexcess(axis.Max), 4)
	}
	setTicks(axis, excess, steps, 0.13)
}

// setLinear makes axis a linear one from low to high.
func setLinear(axis *plot.Axis, low, high float64, ticks int) {
	if high <= low {
		low, high = low-0.5, high+0.5
	}
	axis.Min, axis.Max = low, high
	setTicks(axis, linear, roundSteps(low, high, ticks), 0.1)
}

// decades is the ratio from which on an axis of times is logarithmic.
const decades = 30

// setTimes makes axis one of times that holds all the values (not negative) and
// starts at zero, or is logarithmic when they span decades. It returns its scale.
func setTimes(axis *plot.Axis, values []float64) scale {
	low, high := bounds(values)
	if low <= 0 || high < decades*low {
		setLinear(axis, 0, max(1.04*high, 1e-12), 5)
		return linear
	}
	axis.Min, axis.Max = math.Log10(low/1.2), math.Log10(high*1.2)
	var steps []float64
	for power := math.Floor(axis.Min); power <= axis.Max; power++ {
		for _, digit := range []float64{1, 2, 5} {
			steps = append(steps, digit*math.Pow(10, power))
		}
	}
	setTicks(axis, math.Log10, steps, 0.12)
	return math.Log10
}

// roundSteps returns about count multiples of 1, 2 or 5 times a power of ten
// between low and high.
func roundSteps(low, high float64, count int) []float64 {
	rough := (high - low) / float64(count)
	unit := math.Pow(10, math.Floor(math.Log10(rough)))
	step := 10 * unit
	switch digit := rough / unit; { // the nearest of 1, 2, 5 and 10 by ratio, about
	case digit < 1.5:
		step = unit
	case digit < 3.5:
		step = 2 * unit
	case digit < 7.5:
		step = 5 * unit
	}
	var steps []float64
	for i := math.Ceil(low / step); i*step <= high; i++ {
		steps = append(steps, i*step+0) // +0 turns -0 into 0
	}
	return steps
}

// setTicks puts ticks at the steps and labels those that lie at least gap, a
// share of the axis, above the last one labelled.
func setTicks(axis *plot.Axis, at scale, steps []float64, gap float64) {
	var ticks plot.ConstantTicks
	last := math.Inf(-1)
	for _, x := range steps {
		y := at(x)
		if y < axis.Min || y > axis.Max {
			continue
		}
		tick := plot.Tick{Value: y}
		if place := (y - axis.Min) / (axis.Max - axis.Min); place >= last+gap {
			tick.Label = strconv.FormatFloat(x, 'g', 5, 64)
			last = place
		}
		ticks = append(ticks, tick)
	}
	axis.Tick.Marker = ticks
}

// setNames makes axis one of categories, one label each, leaving out as many as
// is needed for every label to have the given room, counted in categories.
func setNames(axis *plot.Axis, names []string, room float64) {
	every := max(1, int(math.Ceil(room)))
	ticks := make(plot.ConstantTicks, len(names))
	for i, name := range names {
		ticks[i].Value = float64(i)
		if i%every == 0 {
			ticks[i].Label = name
		}
	}
	axis.Min, axis.Max = -0.5, float64(len(names))-0.5
	axis.Padding = 0
	axis.Tick.Marker = ticks
}

// bounds returns the smallest and the largest value, and 1, 1 for none.
func bounds(values []float64) (low, high float64) {
	if len(values) == 0 {
		return 1, 1
	}
	low, high = values[0], values[0]
	for _, x := range values {
		low, high = min(low, x), max(high, x)
	}
	return low, high
}
