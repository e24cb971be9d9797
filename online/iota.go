package online

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/forest"
)

// The constants of IOTA. Weights lie between 3 and 50 %. A collective counts as trained when minTrained
// algorithms have at least minCalls calls each. The thesis does not specify minCalls.
const (
	minWeight  = 0.03
	maxWeight  = 0.50
	minTrained = 5
	minCalls   = 10
)

// adviseIOTA computes the advice for all classes by the rule of IOTA. Algorithms are drawn with weights
// 1/t, where t is the time that the algorithm's forest predicts. Until enough algorithms are trained, all
// algorithms have the same weight.
//
// The thesis predicts t by 200 boosted trees with a Tweedie loss (XGBoost, learning rate 0.3). At the points
// at which an algorithm was called, their residual falls to 0.7²⁰⁰ and the minimum of this loss is the mean of the
// times. A single complete tree, which adviseIOTA uses, predicts these means at once.
//
// Source: Steiner, Online Algorithm Selection of MPI Collective Communication Operations (diploma
// thesis, TU Wien, 2023), chapter 4.
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

// fastestKnown returns the index of the smallest time that is not NaN. If all times are NaN, it returns 0.
func fastestKnown(seconds []float64) int {
	best := 0
	for a, t := range seconds {
		if b := seconds[best]; t < b || math.IsNaN(b) {
			best = a
		}
	}
	return best
}

// trainForests trains one forest for each algorithm that has enough calls. The forest predicts the
// logarithm of the time in seconds. If too few algorithms have enough calls, trainForests returns nil.
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

// predictTimes returns the predicted time of each algorithm of a class in seconds. For an algorithm without
// a forest it returns NaN.
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

// iotaWeights returns weights in proportion to 1/t. It scales them to the sum 1, limits them to the range
// from minWeight to maxWeight, and scales them again. An unknown time is NaN and gets the mean weight of
// the known times. If no time is known, all weights are equal.
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
	floats.Scale(1/floats.Sum(out), out)
	for i, w := range out {
		out[i] = min(maxWeight, max(minWeight, w))
	}
	floats.Scale(1/floats.Sum(out), out)
	return out
}
