package config

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/preprocess"
)

// Weight says how much points matter that fit it. What is empty fits everything.
type Weight struct {
	Collective string  `json:"collective,omitempty"`
	Nodes      Range   `json:"nodes,omitzero"`
	PPN        Range   `json:"ppn,omitzero"`
	Sizes      Range   `json:"sizes,omitzero"` // bytes
	Weight     float64 `json:"weight"`
}

// Range is from Low to High, both included; a High of zero is no limit, and the
// zero Range holds every number.
type Range struct {
	Low  int64 `json:"low,omitzero"`
	High int64 `json:"high,omitzero"`
}

// Holds reports whether a number is in the range.
func (r Range) Holds(n int64) bool { return n >= r.Low && (r.High == 0 || n <= r.High) }

// Fits reports whether the weight is about a point.
func (w Weight) Fits(p coll.Point) bool {
	return (w.Collective == "" || w.Collective == string(p.Collective)) &&
		w.Nodes.Holds(int64(p.Nodes)) && w.PPN.Holds(int64(p.PPN)) && w.Sizes.Holds(p.MsgBytes)
}

const mostWeight = 1e6

// weights reads the list of weights.
func weights(c *Campaign, v any) error {
	given, ok := v.([]any)
	if !ok {
		return errors.New("want a list, each item with weight and some of collective, nodes, ppn, sizes")
	}
	var faults faultList
	for i, item := range given {
		w, err := toWeight(item)
		if err != nil {
			faults.add(fmt.Sprintf("[%d]", i), err)
		}
		c.Grid.Weights = append(c.Grid.Weights, w)
	}
	return faults.err()
}

func toWeight(item any) (Weight, error) {
	m, ok := item.(map[string]any)
	if !ok {
		return Weight{}, errors.New("want weight and some of collective, nodes, ppn, sizes")
	}
	if _, ok := m["weight"]; !ok {
		return Weight{}, fmt.Errorf("weight is missing: want a number from 0 to %g", mostWeight)
	}
	var w Weight
	if err := eachKey(m, w.set); err != nil {
		return w, err
	}
	return w, nil
}

func (w *Weight) set(key string, v any) (err error) {
	whole := func(s string) (int64, error) { return toWhole(s, 1, 1<<24) }
	switch key {
	case "collective":
		w.Collective = fmt.Sprint(v)
		return isCollective(w.Collective)
	case "nodes":
		w.Nodes, err = toRange(v, whole, "2..16")
	case "ppn":
		w.PPN, err = toRange(v, whole, "2..16")
	case "sizes":
		w.Sizes, err = toRange(v, coll.ParseBytes, "1KiB..64KiB")
	case "weight":
		w.Weight, err = strconv.ParseFloat(fmt.Sprint(v), 64)
		if err != nil || !(w.Weight >= 0 && w.Weight <= mostWeight) {
			return fmt.Errorf("%v: want a number from 0 to %g", v, mostWeight)
		}
	default:
		return errors.New("unknown key: want collective, nodes, ppn, sizes, weight")
	}
	return err
}

// toRange reads a number or a range, open at one end or at none.
func toRange(v any, parse func(string) (int64, error), example string) (r Range, err error) {
	low, high, ranged := strings.Cut(fmt.Sprint(v), "..")
	low, high = strings.TrimSpace(low), strings.TrimSpace(high)
	if !ranged {
		high = low
	}
	if low == "" && high == "" {
		return r, fmt.Errorf("%v: want a number or a range, for example %s", v, example)
	}
	if low != "" {
		if r.Low, err = parse(low); err != nil {
			return r, fmt.Errorf("%w, or a range, for example %s", err, example)
		}
	}
	if high != "" {
		if r.High, err = parse(high); err != nil {
			return r, fmt.Errorf("%w, or a range, for example %s", err, example)
		}
		if r.High < r.Low || r.High == 0 {
			return r, fmt.Errorf("%v: want the lower end first and an upper end above 0, for example %s", v, example)
		}
	}
	return r, nil
}

// readTrace reads the application's calls, once: the journal keeps them.
func (c *Campaign) readTrace(fault func(key string, err error)) {
	if c.Grid.Trace == "" {
		return
	}
	calls, err := preprocess.ReadTrace(c.Grid.Trace)
	if err != nil {
		fault("grid.trace", err)
	}
	c.Grid.Calls = calls
}

// agreeWeights looks for weights of what is not tuned.
func (c *Campaign) agreeWeights(fault func(key string, err error)) {
	for i, w := range c.Grid.Weights {
		if w.Collective != "" && !slices.Contains(c.Collectives, w.Collective) {
			fault(fmt.Sprintf("grid.weights[%d]", i), fmt.Errorf("collective %s is not in collectives, %s", w.Collective, strings.Join(c.Collectives, ", ")))
		}
	}
}

// WeightsOf returns how much each point of one collective matters, with mean 1: its
// share of the trace, if there is one, times the weights that fit it. It is nil where
// all matter alike. Warnings say what is not as it was meant, errors that nothing is
// left that matters.
func (g Grid) WeightsOf(points []coll.Point) (out []float64, warnings []string, err error) {
	if len(points) == 0 || len(g.Weights) == 0 && g.Trace == "" {
		return nil, nil, nil
	}
	out, warnings = g.traced(points)
	warnings = append(warnings, g.multiply(out, points)...)
	sum := 0.0
	for _, w := range out {
		sum += w
	}
	switch {
	case !(sum > 0) || math.IsInf(sum, 0):
		return nil, warnings, fmt.Errorf("grid.weights: every point of %s has the weight %g: nothing is left to tune for", points[0].Collective, out[0])
	case !slices.ContainsFunc(out, func(w float64) bool { return w != out[0] }):
		return nil, warnings, nil
	}
	for i := range out {
		out[i] *= float64(len(out)) / sum
	}
	return out, warnings, nil
}

// traced returns the shares of the points in the trace, 1 each where it says nothing.
func (g Grid) traced(points []coll.Point) (out []float64, warnings []string) {
	even := slices.Repeat([]float64{1}, len(points))
	if g.Trace == "" {
		return even, nil
	}
	out, far, known := preprocess.CallWeights(points, g.Calls)
	if !known {
		out = even
		warnings = append(warnings, fmt.Sprintf("the trace has no call of %s: all its points count alike", points[0].Collective))
	}
	if far > 0.01 {
		warnings = append(warnings, fmt.Sprintf("%.0f %% of the trace's %s lies two doublings or more away from any point of the grid", 100*far, points[0].Collective))
	}
	return out, warnings
}

// multiply gives the points the weights that fit them and warns of those that fit
// none.
func (g Grid) multiply(out []float64, points []coll.Point) (warnings []string) {
	for j, w := range g.Weights {
		fits := false
		for i, p := range points {
			if w.Fits(p) {
				out[i] *= w.Weight
				fits = true
			}
		}
		if !fits && (w.Collective == "" || w.Collective == string(points[0].Collective)) {
			warnings = append(warnings, fmt.Sprintf("grid.weights[%d] fits no point of %s", j, points[0].Collective))
		}
	}
	return warnings
}
