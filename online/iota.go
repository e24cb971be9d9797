package online

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"tutti/coll"
)

// The constants of IOTA. Weights lie between 3 and 50 %. A collective counts as trained when minTrained
// algorithms have at least minCalls calls each. Steiner's thesis (2023) specifies neither minCalls nor the
// unit of times.
const (
	minWeight    = 0.03
	maxWeight    = 0.50
	minTrained   = 5
	minCalls     = 10
	microseconds = 1e6 // in a second
)

// adviseIOTA computes the advice for all classes by the rule of IOTA. Algorithms are drawn with weights
// 1/t, where t is the predicted time of the algorithm. Until enough algorithms are trained, all algorithms have
// the same weight.
//
// Source: Steiner, Online Algorithm Selection of MPI Collective Communication Operations (diploma
// thesis, TU Wien, 2023), chapter 4.
func adviseIOTA(r *Result) error {
	h := r.history
	for _, c := range collectivesOf(h.classes) {
		most := 0 // largest number of algorithms in a class
		for _, class := range h.classes {
			if class.Collective == c {
				most = max(most, len(class.Algorithms))
			}
		}
		trained := TrainIOTA(slices.Concat(append(h.earlierOf(c), h.measurements(c))...), most)
		for i, class := range h.classes {
			if class.Collective != c {
				continue
			}
			seconds := trained.Seconds(class.Point, class.Algorithms)
			a := Advice{Best: r.selected[i], Faster: 1, Weights: IOTAWeights(seconds)}
			if trained != nil {
				a.Best = floats.MinIdx(seconds) // skips NaN
			}
			if seconds[0] > 0 && seconds[a.Best] > 0 {
				a.Faster = seconds[0] / seconds[a.Best]
			}
			r.Advice[i] = a
		}
	}
	return nil
}

// IOTA has a trained model for each algorithm: boosted trees that predict its time in microseconds. It is
// nil if the collective has too few calls.
type IOTA map[coll.Algorithm]boosted

// TrainIOTA trains a model for each algorithm that has enough calls. A measurement of n samples counts n
// times. If too few of the collective's algorithms have enough calls, TrainIOTA returns nil.
func TrainIOTA(ms []coll.Measurement, algorithms int) IOTA {
	type training struct {
		rows           [][]float64
		times, weights []float64
	}
	of := map[coll.Algorithm]*training{}
	for _, m := range ms {
		if of[m.Algorithm] == nil {
			of[m.Algorithm] = &training{}
		}
		t := of[m.Algorithm]
		t.rows = append(t.rows, iotaFeatures(m.Point))
		t.times = append(t.times, m.Seconds*microseconds)
		t.weights = append(t.weights, float64(max(1, m.Samples)))
	}
	out := IOTA{}
	for algorithm, t := range of {
		if floats.Sum(t.weights) >= minCalls {
			out[algorithm] = fitBoosted(t.rows, t.times, t.weights)
		}
	}
	if len(out) < min(minTrained, algorithms) {
		return nil
	}
	return out
}

// Seconds returns the predicted time of each algorithm at a point. For an algorithm without a model it is NaN.
func (m IOTA) Seconds(p coll.Point, algorithms []coll.Algorithm) []float64 {
	out := make([]float64, len(algorithms))
	for a, algorithm := range algorithms {
		out[a] = math.NaN()
		if trained := m[algorithm]; trained != nil {
			out[a] = trained.predict(iotaFeatures(p)) / microseconds
		}
	}
	return out
}

func iotaFeatures(p coll.Point) []float64 {
	return []float64{float64(p.Nodes), float64(p.PPN), float64(p.MsgBytes)}
}

// IOTAWeights returns weights in proportion to 1/t. It scales them to the sum 1, limits them to the range
// from minWeight to maxWeight, and scales them again. An unknown time is NaN and gets the mean weight of
// the known times. If no time is known, all weights are equal.
//
// Source: Steiner (2023), sections 4.5.2 and 4.6.2.
func IOTAWeights(seconds []float64) []float64 {
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
	floats.Scale(1/floats.Sum(out), out)
	for i, w := range out {
		out[i] = min(maxWeight, max(minWeight, w))
	}
	floats.Scale(1/floats.Sum(out), out)
	return out
}
