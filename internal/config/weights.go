package config

import (
	"fmt"
	"slices"
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

// Range is a range of numbers that includes both ends. A High of zero means no upper limit, so the zero Range
// contains every number.
type Range struct {
	Low  int64 `json:"low,omitzero"`
	High int64 `json:"high,omitzero"`
}

// Contains reports whether n lies in the range or is one of its ends.
func (r Range) Contains(n int64) bool { return n >= r.Low && (r.High == 0 || n <= r.High) }

// Matches reports whether a point has the collective of the weight and lies in its ranges.
func (w Weight) Matches(p coll.Point) bool {
	return (w.Collective == "" || w.Collective == string(p.Collective)) &&
		w.Nodes.Contains(int64(p.Nodes)) && w.PPN.Contains(int64(p.PPN)) && w.Sizes.Contains(p.MsgBytes)
}

// maxWeight is the largest weight that a campaign file may give to points.
const maxWeight = 1e6

func weightFields(w *Weight) []field {
	return []field{
		{"weight", "a number from 0 to 1e+06", nil, number(&w.Weight, 0, maxWeight)},
		{"collective", "collective of the points", optional, choice(&w.Collective, Collectives()...)},
		{"nodes", "number of nodes, or a range", optional, span(&w.Nodes, toNumber, "2..16")},
		{"ppn", "number of processes per node, or a range", optional, span(&w.PPN, toNumber, "2..16")},
		{"sizes", "message size, or a range", optional, span(&w.Sizes, coll.ParseBytes, "1KiB..64KiB")},
	}
}

func toNumber(s string) (int64, error) { return toWhole(s, 1, 1<<24) }

// span returns the type of a key whose value is a number or a range of numbers.
func span(at *Range, parse func(string) (int64, error), example string) value {
	read := func(v any) (err error) {
		*at, err = toRange(v, parse, example)
		return err
	}
	return value{read: read, schema: schema{"type": []string{"integer", "string"}}}
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

// agreeWeights reports an error for each weight whose collective the campaign does not tune.
func (c *Campaign) agreeWeights(fault func(key string, err error)) {
	for i, w := range c.Grid.Weights {
		if w.Collective != "" && !slices.Contains(c.Collectives, w.Collective) {
			fault(fmt.Sprintf("grid.weights[%d]", i), fmt.Errorf("collective %s is not in collectives, %s", w.Collective, strings.Join(c.Collectives, ", ")))
		}
	}
}
