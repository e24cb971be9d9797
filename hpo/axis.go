package hpo

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/c-bata/goptuna"
)

// ErrRange is matched by the error of a parameter whose range is empty, not
// finite, or not positive on a logarithmic scale, and of a value outside its range.
var ErrRange = errors.New("parameter range")

// logInt is the distribution goptuna lacks: integers low..high, both included,
// spread evenly over the logarithm.
type logInt struct {
	Low, High int
}

var _ goptuna.Distribution = logInt{}

// ToExternalRepr returns the integer nearest to ir.
func (d logInt) ToExternalRepr(ir float64) any { return int(math.Round(ir)) }

// Single reports whether the range holds one integer only.
func (d logInt) Single() bool { return d.Low == d.High }

// Contains reports whether ir is nearest to an integer of the range.
func (d logInt) Contains(ir float64) bool {
	v := int(math.Round(ir))
	return d.Low <= v && v <= d.High
}

// gridSlack is the part of a step by which a value may miss the grid: 0.3 is a
// multiple of 0.1 although its float64 is not.
const gridSlack = 1e-9

// axis is a numeric range as the sampler sees it: an interval of kernel
// coordinates (the logarithm where log is set) and the grid of values in it.
//
// first and last are the smallest and largest value, step their spacing, 0 for
// a continuous range. low and high bound the kernel coordinates; on a grid they
// reach half a step beyond first and last, so that every value owns a cell of
// the same width and the two ends are drawn as often as the rest.
type axis struct {
	low, high   float64
	first, last float64
	step        float64
	log         bool
}

// newAxis returns the axis of a numeric distribution, matching ErrRange when the
// range is not usable.
func newAxis(distribution any) (axis, error) {
	var a axis
	switch d := distribution.(type) {
	case goptuna.UniformDistribution:
		a = axis{first: d.Low, last: d.High}
	case goptuna.LogUniformDistribution:
		a = axis{first: d.Low, last: d.High, log: true}
	case goptuna.DiscreteUniformDistribution:
		a = axis{first: d.Low, last: d.High, step: d.Q}
	case goptuna.IntUniformDistribution:
		a = axis{first: float64(d.Low), last: float64(d.High), step: 1}
	case goptuna.StepIntUniformDistribution:
		a = axis{first: float64(d.Low), last: float64(d.High), step: float64(d.Step)}
	case logInt:
		a = axis{first: float64(d.Low), last: float64(d.High), step: 1, log: true}
	default:
		return axis{}, fmt.Errorf("%w: %w %T", ErrRange, goptuna.ErrUnknownDistribution, distribution)
	}
	return a.bounded()
}

// bounded checks the range and fills low and high.
func (a axis) bounded() (axis, error) {
	width := a.last - a.first
	switch {
	case math.IsNaN(width) || math.IsInf(width, 0):
		return axis{}, fmt.Errorf("%w: %g to %g is not finite", ErrRange, a.first, a.last)
	case width < 0:
		return axis{}, fmt.Errorf("%w: %g to %g is empty", ErrRange, a.first, a.last)
	case a.log && a.first <= 0:
		return axis{}, fmt.Errorf("%w: %g to %g on a logarithmic scale", ErrRange, a.first, a.last)
	case a.step < 0 || math.IsNaN(a.step) || math.IsInf(a.step, 0):
		return axis{}, fmt.Errorf("%w: step %g", ErrRange, a.step)
	}
	if a.step > 0 {
		a.last = a.first + math.Floor(width/a.step+gridSlack)*a.step
	}
	a.low, a.high = a.coordinate(a.first-a.step/2), a.coordinate(a.last+a.step/2)
	return a, nil
}

// contains reports whether v is a value of the range.
func (a axis) contains(v float64) bool {
	if v < a.first || v > a.last || math.IsNaN(v) {
		return false
	}
	return a.step == 0 || math.Abs(a.grid(v)-v) <= gridSlack*a.step
}

// coordinate maps a value to kernel coordinates.
func (a axis) coordinate(v float64) float64 {
	if a.log {
		return math.Log(v)
	}
	return v
}

// value maps a kernel coordinate to the nearest value of the range.
func (a axis) value(x float64) float64 {
	if a.log {
		x = math.Exp(x)
	}
	if a.step > 0 {
		x = a.grid(x)
	}
	return min(max(x, a.first), a.last)
}

// grid returns the multiple of the step from the first value that is nearest to v.
func (a axis) grid(v float64) float64 {
	return a.first + math.Round((v-a.first)/a.step)*a.step
}

// cell returns the interval of kernel coordinates whose nearest value is v.
func (a axis) cell(v float64) (lo, hi float64) {
	return a.coordinate(v - a.step/2), a.coordinate(v + a.step/2)
}

// uniform draws a value evenly over the kernel coordinates.
func (a axis) uniform(rng *rand.Rand) float64 {
	return a.value(a.low + rng.Float64()*(a.high-a.low))
}

// check returns an error matching ErrRange when the distribution holds no value.
func check(distribution any) error {
	d, ok := distribution.(goptuna.CategoricalDistribution)
	if !ok {
		_, err := newAxis(distribution)
		return err
	}
	if len(d.Choices) == 0 {
		return fmt.Errorf("%w: no choices", ErrRange)
	}
	for i, choice := range d.Choices {
		if choice == "" || slices.Contains(d.Choices[:i], choice) {
			return fmt.Errorf("%w: choice %q is empty or repeated", ErrRange, choice)
		}
	}
	return nil
}

// only returns the value of a distribution that check has passed and that holds no other.
func only(distribution any) (float64, bool) {
	if d, ok := distribution.(goptuna.CategoricalDistribution); ok {
		return 0, len(d.Choices) == 1
	}
	a, _ := newAxis(distribution)
	return a.first, a.first == a.last
}

// observed returns the value that an earlier trial gave to a parameter, in
// goptuna's internal form for the present distribution; false when the trial
// has no such parameter or its value is no longer in the range.
func observed(trial *goptuna.FrozenTrial, name string, distribution any) (float64, bool) {
	v, ok := trial.InternalParams[name]
	if !ok {
		return 0, false
	}
	if d, categorical := distribution.(goptuna.CategoricalDistribution); categorical {
		choice, _ := trial.Params[name].(string)
		i := slices.Index(d.Choices, choice)
		return float64(i), i >= 0
	}
	a, err := newAxis(distribution)
	return v, err == nil && a.contains(v)
}
