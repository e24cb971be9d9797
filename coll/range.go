package coll

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// Range is the range of useful values of one parameter of an algorithm: the powers of two from Low to High,
// which are at least 1.
type Range struct {
	Parameter string
	Low, High int64
}

// beyond is the factor between the last known value and the next one to try.
const beyond = 4

// Neighbours returns what to try next if a is fast: a with the power of two halfway to the next
// known value on either side, or four times beyond the last one. For an algorithm without
// the parameter, or with a value below the range, it returns the middle of the range,
// unless one of its values is known. It returns nothing on a side where the next known
// value is at most a factor of two away. known may contain any algorithms.
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
	below, above := max(r.Low, floorPowerOfTwo(own/beyond)), min(r.High, floorPowerOfTwo(own*beyond))
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

// value returns the value of the parameter, and false if a has none in the range or above.
func (r Range) value(a Algorithm) (int64, bool) {
	text, _ := a.Param(r.Parameter)
	v, err := strconv.ParseInt(text, 10, 64)
	return v, err == nil && v >= r.Low
}

// values returns the known values of the parameter, ascending, of algorithms that are
// otherwise equal to a.
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

// between returns the power of two in the middle of two values, low if there is none.
func between(low, high int64) int64 {
	middle := floorPowerOfTwo(int64(math.Sqrt(float64(low) * float64(high))))
	if middle <= low || middle >= high {
		return low
	}
	return middle
}

// floorPowerOfTwo returns the largest power of two up to n, 0 for none.
func floorPowerOfTwo(n int64) int64 {
	if n < 1 {
		return 0
	}
	return 1 << (bits.Len64(uint64(n)) - 1)
}

// with returns a with a parameter set.
func (a Algorithm) with(name string, value int64) Algorithm {
	params := slices.DeleteFunc(a.Params(), func(p Param) bool { return p.Name == name })
	out, err := NewAlgorithm(a.Name, append(params, Param{name, strconv.FormatInt(value, 10)})...)
	if err != nil {
		panic("coll: " + err.Error()) // all parts come from an algorithm
	}
	return out
}
