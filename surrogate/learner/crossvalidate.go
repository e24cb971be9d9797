package learner

import (
	"fmt"
	"math"
	"slices"

	"tutti/coll"
	"tutti/metrics"
)

// Pair is a held-out prediction beside its measurement, in scaled units.
type Pair struct {
	Algorithm           coll.Algorithm
	Measured, Predicted float64
}

// HeldOut is what predictions for points that the models had not seen were worth.
type HeldOut struct {
	Slowdowns []float64    // of the choice at each point that leaves one and where nothing is missing
	Points    []coll.Point // of Slowdowns
	Pairs     []Pair       // by point, then by algorithm
}

// Weigh returns options by which each of Points counts as it matters.
func (h HeldOut) Weigh(opt Options) metrics.Options {
	m := metrics.Options{MistakeThreshold: opt.Allowed.Threshold}
	for _, p := range h.Points {
		m.Weights = append(m.Weights, opt.weight(p))
	}
	return m
}

// FoldsOf deals the points of the measurements into k folds: all measurements of
// one point share a fold. It returns the fold of each measurement. k is cut down
// to the number of points.
func FoldsOf(ms []coll.Measurement, k int, seed uint64) []int {
	var points []coll.Point
	for _, m := range ms {
		points = append(points, m.Point)
	}
	slices.SortFunc(points, coll.ComparePoints)
	points = slices.Compact(points)
	ofPoint := deal(len(points), k, seed)
	folds := make([]int, len(ms))
	for i, m := range ms {
		at, _ := slices.BinarySearchFunc(points, m.Point, coll.ComparePoints)
		folds[i] = ofPoint[at]
	}
	return folds
}

// CrossValidate estimates from the measurements alone how good the selection is
// elsewhere: k folds by point, each predicted by models that have not seen it.
// The same seed gives the same folds. It returns an error for fewer than two
// points. Costs k fits.
func CrossValidate(ms []coll.Measurement, k int, seed uint64, opt Options) (HeldOut, error) {
	folds := FoldsOf(ms, k, seed)
	last := slices.Max(append(folds, 0))
	if last == 0 {
		return HeldOut{}, fmt.Errorf("cross-validation: %w: want at least two points", metrics.ErrEmpty)
	}
	var all HeldOut
	for fold := 0; fold <= last; fold++ {
		held, err := Fold(ms, folds, fold, opt)
		if err != nil {
			return HeldOut{}, err
		}
		all.Slowdowns = append(all.Slowdowns, held.Slowdowns...)
		all.Points = append(all.Points, held.Points...)
		all.Pairs = append(all.Pairs, held.Pairs...)
	}
	return all, nil
}

// Fold holds one fold out: it trains on the others and predicts this one.
func Fold(ms []coll.Measurement, folds []int, fold int, opt Options) (HeldOut, error) {
	var train, test []coll.Measurement
	for i, m := range ms {
		if folds[i] == fold {
			test = append(test, m)
		} else {
			train = append(train, m)
		}
	}
	l, err := Fit(train, opt)
	if err != nil {
		return HeldOut{}, err
	}
	return l.compare(test, opt.Missing)
}

// Compare compares the learner with measurements it was not trained on, or with a
// whole recorded machine. At each point it chooses among the algorithms that both
// sides know; where it knows none, the slowest counts as its choice. A point with
// a single algorithm leaves no choice and has no slowdown. The measurements are
// taken to be complete at each point.
func (l *Learner) Compare(test []coll.Measurement) (HeldOut, error) { return l.compare(test, nil) }

// compare leaves points where algorithms are missing without a slowdown: the fastest
// may be among them.
func (l *Learner) compare(test []coll.Measurement, missing func(coll.Point) []coll.Algorithm) (HeldOut, error) {
	if !slices.IsSortedFunc(test, compareMeasurements) {
		test = slices.Clone(test)
		slices.SortStableFunc(test, compareMeasurements)
	}
	predicted, err := l.Predict(pointsOf(test))
	if err != nil {
		return HeldOut{}, err
	}
	targets := l.scaler.Apply(test)
	held := HeldOut{Pairs: make([]Pair, 0, len(test))}
	for p, start := 0, 0; start < len(test); p++ {
		end := start + 1
		for end < len(test) && test[end].Point == test[start].Point {
			end++
		}
		slowdown := l.comparePoint(&held, test[start:end], targets[start:end], predicted, p)
		if end-start > 1 && (missing == nil || len(missing(test[start].Point)) == 0) {
			held.Slowdowns = append(held.Slowdowns, slowdown)
			held.Points = append(held.Points, test[start].Point)
		}
		start = end
	}
	return held, nil
}

// comparePoint adds the pairs of one point and returns the slowdown of its choice.
func (l *Learner) comparePoint(held *HeldOut, here []coll.Measurement, targets []float64, predicted [][]float64, p int) float64 {
	best, slowest := math.Inf(1), 0.0
	chosen, lowest := 0.0, math.Inf(1)
	for i, m := range here {
		best, slowest = min(best, m.Seconds), max(slowest, m.Seconds)
		a, known := slices.BinarySearchFunc(l.algorithms, m.Algorithm, coll.CompareAlgorithms)
		if !known {
			continue
		}
		v := predicted[a][p]
		held.Pairs = append(held.Pairs, Pair{Algorithm: m.Algorithm, Measured: targets[i], Predicted: v})
		if v < lowest {
			lowest, chosen = v, m.Seconds
		}
	}
	if chosen == 0 {
		chosen = slowest
	}
	return chosen / best
}

func compareMeasurements(a, b coll.Measurement) int {
	return coll.CompareCandidates(a.Candidate, b.Candidate)
}

// R2 returns R² over the pairs of one algorithm, or of all for the zero
// Algorithm; see metrics.R2 for when there is none.
func (h HeldOut) R2(alg coll.Algorithm) (float64, error) {
	truth, predicted := make([]float64, 0, len(h.Pairs)), make([]float64, 0, len(h.Pairs))
	for _, p := range h.Pairs {
		if alg == (coll.Algorithm{}) || p.Algorithm == alg {
			truth = append(truth, p.Measured)
			predicted = append(predicted, p.Predicted)
		}
	}
	return metrics.R2(truth, predicted)
}

// Slowdowns returns, for each point of the truth, the time of what is chosen there over the
// least. A choice that the truth does not know there, or none, is as slow as the slowest.
func Slowdowns(truth []coll.Measurement, choose func(coll.Point) coll.Algorithm) map[coll.Point]float64 {
	best, out := map[coll.Point]float64{}, map[coll.Point]float64{}
	chosen := map[coll.Point]float64{}
	for _, m := range truth {
		if t, known := best[m.Point]; !known || m.Seconds < t {
			best[m.Point] = m.Seconds
		}
		out[m.Point] = max(out[m.Point], m.Seconds)
		if choose(m.Point) == m.Algorithm {
			chosen[m.Point] = m.Seconds
		}
	}
	for p := range out {
		if took, known := chosen[p]; known {
			out[p] = took
		}
		out[p] /= best[p]
	}
	return out
}
