package coll

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// Range is the range of useful values of one parameter. The values are the powers of two from Low to High,
// where Low is at least 1.
type Range struct {
	Parameter string
	Low, High int64
}

// beyond is the ratio between the largest known value and the next larger value to try. On the lower side
// it is the ratio between the smallest known value and the next smaller one.
const beyond = 4

// Neighbours returns the algorithms to try next if the algorithm `a` is fast. They differ from `a` only in the value
// of the parameter.
//
// On each side of a's value, the new value is the power of two in the middle between a's value and the next
// known value. If no further value is known on a side, the new value is a factor of four away. If the next
// known value is at most a factor of two away, there is no new value on that side.
//
// If a does not have the parameter, or its value is below the range, Neighbours returns the middle of the
// range. If any value in the range is already known, it returns nothing in this case. The slice `known` may
// contain any algorithms.
func (r Range) Neighbours(a Algorithm, known []Algorithm) []Algorithm {
	values := r.values(a, known)
	own, ok := r.value(a)
	if !ok {
		if len(values) > 0 {
			return nil
		}
		return []Algorithm{a.with(r.Parameter, between(r.Low, r.High))}
	}
	at, there := slices.BinarySearch(values, own)
	below, above := max(r.Low, FloorPowerOfTwo(own/beyond)), min(r.High, FloorPowerOfTwo(own*beyond))
	if at > 0 {
		below = between(values[at-1], own)
	}
	if there {
		at++
	}
	if at < len(values) {
		above = between(own, values[at])
	}
	var out []Algorithm
	for _, v := range []int64{below, above} {
		if v >= r.Low && v <= r.High && v != own && !slices.Contains(values, v) {
			out = append(out, a.with(r.Parameter, v))
		}
	}
	return out
}

// value returns the value that the parameter has in a. It returns false if a has no value, or a value below
// the range.
func (r Range) value(a Algorithm) (int64, bool) {
	text, _ := a.Param(r.Parameter)
	v, err := strconv.ParseInt(text, 10, 64)
	return v, err == nil && v >= r.Low
}

// values returns the known values of the parameter in ascending order. It considers only algorithms that equal `a`
// in everything but this parameter.
func (r Range) values(a Algorithm, known []Algorithm) []int64 {
	var out []int64
	for _, k := range known {
		if v, ok := r.value(k); ok && a.with(r.Parameter, v) == k {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// between returns the power of two in the middle between two values. It returns `low` if no power of two is between
// them.
func between(low, high int64) int64 {
	middle := FloorPowerOfTwo(int64(math.Sqrt(float64(low) * float64(high))))
	if middle <= low || middle >= high {
		return low
	}
	return middle
}

// FloorPowerOfTwo returns the largest power of two that is at most n. It returns 0 if n is less than 1.
func FloorPowerOfTwo[T int | int64](n T) T {
	if n < 1 {
		return 0
	}
	return 1 << (bits.Len64(uint64(n)) - 1)
}

func (a Algorithm) with(name string, value int64) Algorithm {
	params := slices.DeleteFunc(a.Params(), func(p Param) bool { return p.Name == name })
	out, err := NewAlgorithm(a.Name, append(params, Param{name, strconv.FormatInt(value, 10)})...)
	if err != nil {
		panic("coll: " + err.Error()) // all parts come from an algorithm
	}
	return out
}
