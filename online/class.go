package online

import (
	"math/bits"
	"slices"

	"tutti/coll"
)

// Class groups calls that share one choice of algorithm: the same collective, the same layout, and
// sizes with the same number of bits.
type Class struct {
	coll.Point                  // with the most frequent size of its samples
	Algorithms []coll.Algorithm // algorithms that can run there
}

// sizesWithSameBits returns the smallest and the largest size with the same number of bits as
// bytes.
func sizesWithSameBits(bytes int64) (low, high int64) {
	n := bits.Len64(uint64(bytes))
	if n == 0 {
		return 0, 0
	}
	return 1 << (n - 1), 1<<n - 1
}

// classKey returns the point that identifies a class: the one with the smallest size of the class.
func classKey(p coll.Point) coll.Point {
	p.MsgBytes, _ = sizesWithSameBits(p.MsgBytes)
	return p
}

// jobSample is a sample with the index of its job.
type jobSample struct {
	Sample
	job int
}

// classesOf returns the classes of samples, earlier measurements and further points, ordered by
// point. It also returns the samples of each class.
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

// mostFrequent returns the most frequent number, and the smallest of several. It sorts the numbers.
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

// collectivesOf returns the distinct collectives of the classes, in order of occurrence.
func collectivesOf(classes []Class) []coll.Collective {
	var out []coll.Collective
	for _, c := range classes {
		if !slices.Contains(out, c.Collective) {
			out = append(out, c.Collective)
		}
	}
	return out
}
