package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
)

// Weight is a weight of all points that have the given collective and lie in the given ranges. An empty
// field places no restriction on the points.
type Weight struct {
	Collective string  `json:"collective,omitempty"`
	Nodes      Range   `json:"nodes,omitzero"`
	PPN        Range   `json:"ppn,omitzero"`
	Sizes      Range   `json:"sizes,omitzero"` // bytes
	Weight     float64 `json:"weight"`
}

// Range includes both of its ends. A High of zero is no limit, so the zero Range contains every
// number.
type Range struct {
	Low  int64 `json:"low,omitzero"`
	High int64 `json:"high,omitzero"`
}

// Contains reports whether the range contains a number.
func (r Range) Contains(n int64) bool { return n >= r.Low && (r.High == 0 || n <= r.High) }

// Matches reports whether the weight applies to a point.
func (w Weight) Matches(p coll.Point) bool {
	return (w.Collective == "" || w.Collective == string(p.Collective)) &&
		w.Nodes.Contains(int64(p.Nodes)) && w.PPN.Contains(int64(p.PPN)) && w.Sizes.Contains(p.MsgBytes)
}

// maxWeight is the largest allowed weight.
const maxWeight = 1e6

// weightList returns the type of the key grid.weights.
func weightList() value {
	span := schema{"type": []string{"integer", "string"}}
	item := objectSchema([]string{"weight"}, map[string]schema{
		"weight": {"type": "number", "minimum": 0, "maximum": maxWeight}, "collective": {"enum": Collectives()}, "nodes": span, "ppn": span, "sizes": span,
	})
	return value{read: readWeights, schema: schema{"type": "array", "items": item}}
}

// readWeights reads the value of the key grid.weights.
func readWeights(c *Campaign, v any) error {
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
		return Weight{}, fmt.Errorf("weight is missing: want a number from 0 to %g", maxWeight)
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
		if !slices.Contains(Collectives(), w.Collective) {
			return NotOneOf(w.Collective, Collectives())
		}
	case "nodes":
		w.Nodes, err = toRange(v, whole, "2..16")
	case "ppn":
		w.PPN, err = toRange(v, whole, "2..16")
	case "sizes":
		w.Sizes, err = toRange(v, coll.ParseBytes, "1KiB..64KiB")
	case "weight":
		w.Weight, err = strconv.ParseFloat(fmt.Sprint(v), 64)
		if err != nil || !(w.Weight >= 0 && w.Weight <= maxWeight) {
			return fmt.Errorf("%v: want a number from 0 to %g", v, maxWeight)
		}
	default:
		return fmt.Errorf("unknown key: %s", Hint(key, []string{"collective", "nodes", "ppn", "sizes", "weight"}))
	}
	return err
}

// toRange parses a number or a range of numbers. A range may be open at one end.
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

// agreeWeights reports weights for collectives that the campaign does not tune.
func (c *Campaign) agreeWeights(fault func(key string, err error)) {
	for i, w := range c.Grid.Weights {
		if w.Collective != "" && !slices.Contains(c.Collectives, w.Collective) {
			fault(fmt.Sprintf("grid.weights[%d]", i), fmt.Errorf("collective %s is not in collectives, %s", w.Collective, strings.Join(c.Collectives, ", ")))
		}
	}
}
