package online

import (
	"math"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/forest"
)

// The constants of IOTA. Weights are limited to 3 to 50 %. A collective counts as untrained until
// minTrained algorithms have minCalls calls each. The thesis does not specify minCalls.
const (
	minWeight  = 0.03
	maxWeight  = 0.50
	minTrained = 5
	minCalls   = 10
)

// adviseIOTA advises on all classes by IOTA's rule. Algorithms are drawn with weights 1/t, where a
// forest for each algorithm predicts the time t. Until enough algorithms are trained, they are
// drawn uniformly.
//
// Source: Steiner, Online Algorithm Selection of MPI Collective Communication Operations (diploma
// thesis, TU Wien, 2023), chapter 4, with forests in place of boosted trees.
func adviseIOTA(r *Result) error {
	h := r.history
	for _, c := range collectivesOf(h.classes) {
		forests, err := h.trainForests(c)
		if err != nil {
			return err
		}
		for i, class := range h.classes {
			if class.Collective != c {
				continue
			}
			seconds, err := predictTimes(forests, class)
			if err != nil {
				return err
			}
			a := Advice{Best: r.selected[i], Faster: 1, Weights: iotaWeights(seconds)}
			if forests != nil {
				a.Best = fastestKnown(seconds)
			}
			if seconds[0] > 0 && seconds[a.Best] > 0 {
				a.Faster = seconds[0] / seconds[a.Best]
			}
			r.Advice[i] = a
		}
	}
	return nil
}

// fastestKnown returns the index of the smallest time that is not NaN, or 0 if there is none.
func fastestKnown(seconds []float64) int {
	best := 0
	for a, t := range seconds {
		if b := seconds[best]; t < b || math.IsNaN(b) {
			best = a
		}
	}
	return best
}

// trainForests returns one forest for each algorithm with enough calls. The forest predicts the logarithm
// of seconds. trainForests returns nil if too few algorithms have enough calls.
func (h *history) trainForests(c coll.Collective) (map[coll.Algorithm]*forest.Forest, error) {
	rows, calls := map[coll.Algorithm][]coll.Measurement{}, map[coll.Algorithm]int{}
	for _, source := range append(h.earlierOf(c), h.measurements(c)) {
		for _, m := range source {
			rows[m.Algorithm] = append(rows[m.Algorithm], m)
			calls[m.Algorithm] += max(1, m.Samples)
		}
	}
	most := 0 // largest number of algorithms in a class
	for _, class := range h.classes {
		if class.Collective == c {
			most = max(most, len(class.Algorithms))
		}
	}
	out := map[coll.Algorithm]*forest.Forest{}
	for algorithm, ms := range rows {
		if calls[algorithm] < minCalls {
			continue
		}
		x, y := make([][]float64, len(ms)), make([]float64, len(ms))
		for i, m := range ms {
			f := preprocess.Features(m.Point)
			x[i], y[i] = f[:], math.Log(m.Seconds)
		}
		// With many calls at few points all bootstrapped trees would be alike, so a single tree
		// predicts the means.
		f, err := forest.Fit(x, y, forest.Options{Trees: 1, NoBootstrap: true, Seed: 1, Workers: 1})
		if err != nil {
			return nil, err
		}
		out[algorithm] = f
	}
	if len(out) < min(minTrained, most) {
		return nil, nil
	}
	return out, nil
}

// predictTimes returns the predicted seconds of each algorithm of a class, or NaN for an algorithm
// without a forest.
func predictTimes(forests map[coll.Algorithm]*forest.Forest, class Class) ([]float64, error) {
	f := preprocess.Features(class.Point)
	out := make([]float64, len(class.Algorithms))
	for a, algorithm := range class.Algorithms {
		out[a] = math.NaN()
		if trained := forests[algorithm]; trained != nil {
			y, err := trained.Predict([][]float64{f[:]})
			if err != nil {
				return nil, err
			}
			out[a] = math.Exp(y[0])
		}
	}
	return out, nil
}

// iotaWeights returns weights 1/t with the sum 1, limited to minWeight and maxWeight and scaled
// again. An unknown time, NaN, gets the mean weight of the known ones. Without any known time all
// weights are equal.
//
// Source: Steiner (2023), sections 4.5.2 and 4.6.2.
func iotaWeights(seconds []float64) []float64 {
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
	normalize(out)
	for i, w := range out {
		out[i] = min(maxWeight, max(minWeight, w))
	}
	normalize(out)
	return out
}

// normalize scales weights so that their sum is 1.
func normalize(w []float64) {
	sum := 0.0
	for _, v := range w {
		sum += v
	}
	for i := range w {
		w[i] /= sum
	}
}
