package online

import (
	"math/bits"
	"slices"

	"tutti/coll"
)

// Class is a group of calls for which the same algorithm is chosen. They have the same collective, the same
// layout, and sizes with the same number of bits.
type Class struct {
	coll.Point                  // its size is the most frequent one in the samples
	Algorithms []coll.Algorithm // algorithms that can run at the point
}

// sizesWithSameBits returns the smallest and the largest size that have as many bits as the given number of
// bytes.
func sizesWithSameBits(bytes int64) (low, high int64) {
	n := bits.Len64(uint64(bytes))
	if n == 0 {
		return 0, 0
	}
	return 1 << (n - 1), 1<<n - 1
}

// classKey returns the point that identifies the class of p. It has the smallest size of the class.
func classKey(p coll.Point) coll.Point {
	p.MsgBytes, _ = sizesWithSameBits(p.MsgBytes)
	return p
}

// jobSample is a sample, together with the index of the job that recorded it.
type jobSample struct {
	Sample
	job int
}

// classesOf returns the classes of the samples, of the earlier measurements and of the points in `more`,
// sorted by point. It also returns the samples of each class.
func classesOf(samples []jobSample, earlier [][]coll.Measurement, more []coll.Point, feasible func(coll.Point) []coll.Algorithm) ([]Class, [][]jobSample) {
	calls, otherSizes := map[coll.Point][]jobSample{}, map[coll.Point][]int64{}
	for _, s := range samples {
		key := classKey(s.Point)
		calls[key] = append(calls[key], s)
	}
	add := func(p coll.Point) {
		key := classKey(p)
		if _, known := calls[key]; !known {
			calls[key] = nil
		}
		otherSizes[key] = append(otherSizes[key], p.MsgBytes)
	}
	for _, source := range earlier {
		for _, m := range source {
			add(m.Point)
		}
	}
	for _, p := range more {
		add(p)
	}
	var keys []coll.Point
	for key := range calls {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, coll.ComparePoints)
	var classes []Class
	var samplesOf [][]jobSample
	for _, key := range keys {
		sizes := otherSizes[key]
		if len(calls[key]) > 0 {
			sizes = nil
		}
		for _, s := range calls[key] {
			sizes = append(sizes, s.MsgBytes)
		}
		point := key
		point.MsgBytes = mostFrequent(sizes)
		classes = append(classes, Class{Point: point, Algorithms: feasible(point)})
		samplesOf = append(samplesOf, calls[key])
	}
	return classes, samplesOf
}

// mostFrequent returns the most frequent of the numbers. If several are equally frequent, it returns the
// smallest of them. It sorts the numbers.
func mostFrequent(numbers []int64) int64 {
	slices.Sort(numbers)
	best, most := numbers[0], 0
	for i := 0; i < len(numbers); {
		n := i
		for n < len(numbers) && numbers[n] == numbers[i] {
			n++
		}
		if n-i > most {
			best, most = numbers[i], n-i
		}
		i = n
	}
	return best
}

// collectivesOf returns the distinct collectives of the classes, in the order in which they first occur.
func collectivesOf(classes []Class) []coll.Collective {
	var out []coll.Collective
	for _, c := range classes {
		if !slices.Contains(out, c.Collective) {
			out = append(out, c.Collective)
		}
	}
	return out
}
