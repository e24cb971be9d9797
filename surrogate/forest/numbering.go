package forest

import (
	"math"
	"math/bits"
	"slices"
)

// numbering assigns numbers to distinct values in the order of their first occurrence. It is a hash table
// with open addressing. It is efficient for many values of which few are distinct, such as the features of
// a grid or the thresholds of a forest.
type numbering struct {
	values []float64
	slots  []uint32 // 1 + a number, or 0; 2^(64-shift) of them, at most half used
	shift  int
}

// number returns the number of the value v. A new value gets the next free number. -0 and 0 count as the
// same value.
func (c *numbering) number(v float64) uint32 {
	if v == 0 {
		v = 0 // replaces -0, which has other bits
	}
	if 2*len(c.values) >= len(c.slots) {
		c.enlarge()
	}
	s := c.find(v)
	if c.slots[s] == 0 {
		c.values = append(c.values, v)
		c.slots[s] = uint32(len(c.values))
	}
	return c.slots[s] - 1
}

// find returns the slot that holds the value v. If v is not in the table, it returns the free slot for v.
func (c *numbering) find(v float64) uint64 {
	// Fibonacci hashing: the product with 2⁶⁴/φ mixes all bits into the highest ones.
	mask := uint64(len(c.slots) - 1)
	s := math.Float64bits(v) * 0x9e3779b97f4a7c15 >> c.shift
	for c.slots[s] != 0 && c.values[c.slots[s]-1] != v {
		s = (s + 1) & mask
	}
	return s
}

func (c *numbering) enlarge() {
	c.slots = make([]uint32, max(64, 4*len(c.slots)))
	c.shift = 64 - bits.TrailingZeros(uint(len(c.slots)))
	for k, v := range c.values {
		c.slots[c.find(v)] = uint32(k + 1)
	}
}

// ranked returns the distinct values of n rows in ascending order. It also returns the rank of each row's
// value.
func ranked(n int, of func(row int) float64) (values []float64, ranks []uint32) {
	var seen numbering
	ranks = make([]uint32, n)
	for i := range ranks {
		ranks[i] = seen.number(of(i))
	}
	values, byNumber := merge(&seen)
	for i, number := range ranks {
		ranks[i] = byNumber[0][number]
	}
	return values, ranks
}

// merge returns the distinct values of several numberings in ascending order. For each numbering it also
// returns a slice that maps numbers to ranks.
func merge(parts ...*numbering) (values []float64, ranks [][]uint32) {
	for _, p := range parts {
		values = append(values, p.values...)
	}
	slices.Sort(values)
	values = slices.Compact(values)
	for _, p := range parts {
		r := make([]uint32, len(p.values))
		for k, v := range p.values {
			r[k] = lowerBound(values, v)
		}
		ranks = append(ranks, r)
	}
	return values, ranks
}

// lowerBound returns how many of the values are less than v. The values must be in ascending order.
func lowerBound(values []float64, v float64) uint32 {
	k, _ := slices.BinarySearch(values, v)
	return uint32(k)
}
