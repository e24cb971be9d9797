package online

import (
	"math"
	"slices"
)

// hash mixes numbers into one. All ranks that know the same numbers get the same result
// without a message: seed, class and count of calls, never a rank.
//
// Source: the finaliser of Steele, Lea and Flood, Fast Splittable Pseudorandom Number
// Generators (OOPSLA 2014), once for each number.
func hash(numbers ...uint64) uint64 {
	h := uint64(0x9E3779B97F4A7C15)
	for _, n := range numbers {
		h += n + 0x9E3779B97F4A7C15
		h = (h ^ h>>30) * 0xBF58476D1CE4E5B9
		h = (h ^ h>>27) * 0x94D049BB133111EB
		h ^= h >> 31
	}
	return h
}

// uniform returns a number above 0 and below 1.
func uniform(numbers ...uint64) float64 {
	return (float64(hash(numbers...)>>11) + 0.5) / (1 << 53)
}

// normal returns a standard normal number.
func normal(numbers ...uint64) float64 {
	return math.Sqrt2 * math.Erfinv(2*uniform(numbers...)-1)
}

// What a hash is for, so that one never repeats another.
const (
	forCalls uint64 = iota
	forOrder
	forNoise
	forShare
	forWeights
)

// weights turns expected times into IOTA's chances: 1/t, as shares, held between least
// and most, as shares again. What cannot be known (NaN) has the mean of the others; all
// have the same chance when nothing is known.
//
// Source: Steiner, Online Algorithm Selection of MPI Collective Communication Operations
// (diploma thesis, TU Wien, 2023), sections 4.5.2 and 4.6.2.
func weights(seconds []float64, least, most float64) []float64 {
	out := make([]float64, len(seconds))
	known, sum := 0, 0.0
	for i, t := range seconds {
		if !math.IsNaN(t) {
			out[i] = 1 / t
			known++
			sum += out[i]
		}
	}
	for i, t := range seconds {
		if known == 0 {
			out[i] = 1
		} else if math.IsNaN(t) {
			out[i] = sum / float64(known)
		}
	}
	share(out)
	for i, w := range out {
		out[i] = min(most, max(least, w))
	}
	share(out)
	return out
}

// share scales weights to a sum of 1.
func share(w []float64) {
	sum := 0.0
	for _, v := range w {
		sum += v
	}
	for i := range w {
		w[i] /= sum
	}
}

// prefix replaces weights by their sums from the first on; the last is 1.
func prefix(w []float64) {
	for i := 1; i < len(w); i++ {
		w[i] += w[i-1]
	}
	w[len(w)-1] = 1
}

// drawn returns the first place whose prefix sum reaches u.
func drawn(sums []float64, u float64) int {
	at, _ := slices.BinarySearch(sums, u)
	return min(at, len(sums)-1)
}
