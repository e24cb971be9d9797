package coll

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Grid is the Cartesian product of three lists: numbers of nodes, numbers of processes per node, and
// message sizes.
type Grid struct {
	Nodes []int   `json:"nodes,omitempty"`
	PPN   []int   `json:"ppn,omitempty"`
	Sizes []int64 `json:"sizes,omitempty"` // bytes
}

// HasLayout reports whether the grid has a point's nodes and ppn. An empty list has all numbers.
func (g Grid) HasLayout(p Point) bool { return has(g.Nodes, p.Nodes) && has(g.PPN, p.PPN) }

// HasSize reports whether the grid has a point's message size. It has that of each barrier.
func (g Grid) HasSize(p Point) bool { return !p.Collective.Sized() || has(g.Sizes, p.MsgBytes) }

func has[T int | int64](values []T, v T) bool { return len(values) == 0 || slices.Contains(values, v) }

// Validate returns one error with all faults of the grid. A fault is an empty axis, a duplicate, or a
// number that is not positive. Message sizes may also be zero.
func (g Grid) Validate() error {
	return errors.Join(
		validAxis("nodes", g.Nodes, 1),
		validAxis("ppn", g.PPN, 1),
		validAxis("sizes", g.Sizes, 0),
	)
}

// Halfway returns a number near the geometric mean of `low` and `high`. The number is a power of two, or halfway
// between two neighboring powers of two. Halfway returns false if no such number is between low and high.
func Halfway(low, high int64) (int64, bool) {
	mean := math.Sqrt(float64(low) * float64(high))
	power := FloorPowerOfTwo(int64(mean))
	middle := power
	if next := power + power/2; low >= power || mean*mean > float64(power)*float64(next) {
		middle = next
	}
	return middle, low < middle && middle < high
}

func validAxis[T int | int64](name string, values []T, least T) error {
	if len(values) == 0 {
		return fmt.Errorf("grid.%s: is empty: want at least one number", name)
	}
	var faults []error
	for i, v := range values {
		if v < least {
			faults = append(faults, fmt.Errorf("grid.%s[%d]: %d: want %d or more", name, i, v, least))
		}
		if slices.Contains(values[:i], v) {
			faults = append(faults, fmt.Errorf("grid.%s[%d]: %d is given twice", name, i, v))
		}
	}
	return errors.Join(faults...)
}

// Points returns the points of a collective, ordered by nodes, ppn and size. It omits the layout 1x1, since
// a single rank needs no collective. A barrier has one point of zero bytes for each layout.
func (g Grid) Points(c Collective) ([]Point, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	sizes := g.Sizes
	if !c.Sized() {
		sizes = []int64{0}
	}
	var points []Point
	for _, nodes := range g.Nodes {
		for _, ppn := range g.PPN {
			if nodes*ppn < 2 {
				continue
			}
			for _, size := range sizes {
				points = append(points, Point{Collective: c, Nodes: nodes, PPN: ppn, MsgBytes: size})
			}
		}
	}
	slices.SortFunc(points, ComparePoints)
	return points, nil
}
