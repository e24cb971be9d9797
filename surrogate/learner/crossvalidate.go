package learner

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"tutti/coll"
	"tutti/metrics"
)

// Pair is the prediction for a candidate together with its measurement, in scaled units.
type Pair struct {
	Algorithm           coll.Algorithm
	Measured, Predicted float64
}

// Validation compares predictions with measurements at points that were not used for training.
type Validation struct {
	Slowdowns []float64    // slowdown of the choice at each completely measured point with two or more algorithms
	Points    []coll.Point // of Slowdowns
	Pairs     []Pair       // by point, then by algorithm
}

// MetricsOptions returns the options with which package metrics evaluates v.Slowdowns: the threshold of
// mistakes and the points' weights in `opt`.
func (v Validation) MetricsOptions(opt Options) metrics.Options {
	m := metrics.Options{MistakeThreshold: opt.Allowed.Threshold}
	for _, p := range v.Points {
		m.Weights = append(m.Weights, opt.Weight.Of(p))
	}
	return m
}

// R2 returns R² between the predictions and the measurements of one algorithm. For the zero Algorithm it
// returns R² over those of all algorithms. The errors are those of metrics.R2.
func (v Validation) R2(alg coll.Algorithm) (float64, error) {
	truth, predicted := make([]float64, 0, len(v.Pairs)), make([]float64, 0, len(v.Pairs))
	for _, p := range v.Pairs {
		if alg == (coll.Algorithm{}) || p.Algorithm == alg {
			truth = append(truth, p.Measured)
			predicted = append(predicted, p.Predicted)
		}
	}
	return metrics.R2(truth, predicted)
}

// FoldsOf divides the points of the measurements into k random folds. It returns the fold of each
// measurement. All measurements of a point are in the same fold. There must be at least k points.
func FoldsOf(ms iter.Seq[coll.Measurement], k int, seed uint64) []int {
	var points []coll.Point
	for m := range ms {
		points = append(points, m.Point)
	}
	slices.SortFunc(points, coll.ComparePoints)
	points = slices.Compact(points)
	foldOfPoint := assignFolds(len(points), k, seed)
	var folds []int
	for m := range ms {
		at, _ := slices.BinarySearchFunc(points, m.Point, coll.ComparePoints)
		folds = append(folds, foldOfPoint[at])
	}
	return folds
}

// assignFolds divides n rows into k random folds of nearly equal size, at most n. It returns the fold of each row.
func assignFolds(n, k int, seed uint64) []int {
	k = max(1, min(k, n))
	fold := make([]int, n)
	for i, j := range rand.New(rand.NewPCG(seed, uint64(n))).Perm(n) {
		fold[j] = i % k
	}
	return fold
}

// CrossValidate estimates how good the selection is at unmeasured points. It needs only the measurements:
// it divides their points into k folds and predicts each fold by a model trained on the other folds. The
// same seed gives the same folds. It returns an error for fewer than two points. It costs k fits.
func CrossValidate(d Data, k int, seed uint64, opt Options) (Validation, error) {
	return crossValidate(d, k, seed, opt, d.Missing)
}

// CrossValidateMeasured works like CrossValidate, but has a slowdown for every point with two or more
// measured algorithms. The learner chooses among the measured algorithms.
func CrossValidateMeasured(d Data, k int, seed uint64, opt Options) (Validation, error) {
	return crossValidate(d, k, seed, opt, nil)
}

func crossValidate(d Data, k int, seed uint64, opt Options, missing func(coll.Point) []coll.Algorithm) (Validation, error) {
	folds := FoldsOf(d.Measurements, k, seed)
	last := slices.Max(append(folds, 0))
	if last == 0 {
		return Validation{}, fmt.Errorf("cross-validation: %w: want at least two points", metrics.ErrEmpty)
	}
	var all Validation
	for fold := 0; fold <= last; fold++ {
		v, err := ValidateFold(d, folds, fold, opt, missing)
		if err != nil {
			return Validation{}, err
		}
		all.Slowdowns = append(all.Slowdowns, v.Slowdowns...)
		all.Points = append(all.Points, v.Points...)
		all.Pairs = append(all.Pairs, v.Pairs...)
	}
	return all, nil
}

// ValidateFold trains on the measurements of all other folds and predicts those of one fold. A point with
// missing algorithms has no slowdown, because one of them may be the fastest. If `missing` is nil, the
// learner chooses among the measured algorithms, and no point has missing ones.
func ValidateFold(d Data, folds []int, fold int, opt Options, missing func(coll.Point) []coll.Algorithm) (Validation, error) {
	var train, test []coll.Measurement
	for m := range d.Measurements {
		if folds[len(train)+len(test)] == fold {
			test = append(test, m)
		} else {
			train = append(train, m)
		}
	}
	d.Measurements, d.Posterior = slices.Values(train), nil
	l, err := Fit(d, opt)
	if err != nil {
		return Validation{}, err
	}
	return l.compare(test, missing)
}

// Compare compares the learner's choices with measurements that were not used for training. At each point it
// chooses among the algorithms measured there. If the learner knows none of these algorithms, the slowest one
// counts as its choice. A point with a single algorithm has no slowdown. Every point must have measurements of
// all algorithms that can run there.
func (l *Learner) Compare(test []coll.Measurement) (Validation, error) { return l.compare(test, nil) }

// compare works like Compare, but points may be incomplete; see ValidateFold.
func (l *Learner) compare(test []coll.Measurement, missing func(coll.Point) []coll.Algorithm) (Validation, error) {
	if !slices.IsSortedFunc(test, compareByCandidate) {
		test = slices.Clone(test)
		slices.SortStableFunc(test, compareByCandidate)
	}
	predicted, err := l.Predict(pointsOf(test))
	if err != nil {
		return Validation{}, err
	}
	targets := l.scaler.Apply(test)
	v := Validation{Pairs: make([]Pair, 0, len(test))}
	for p, start := 0, 0; start < len(test); p++ {
		end := start + 1
		for end < len(test) && test[end].Point == test[start].Point {
			end++
		}
		slowdown := l.comparePoint(&v, test[start:end], targets[start:end], predicted, p)
		if end-start > 1 && (missing == nil || len(missing(test[start].Point)) == 0) {
			v.Slowdowns = append(v.Slowdowns, slowdown)
			v.Points = append(v.Points, test[start].Point)
		}
		start = end
	}
	return v, nil
}

// comparePoint adds to v.Pairs the prediction and the measurement of each algorithm at one point. It returns
// the slowdown of the choice at this point.
func (l *Learner) comparePoint(v *Validation, here []coll.Measurement, targets []float64, predicted [][]float64, p int) float64 {
	best, slowest := math.Inf(1), 0.0
	chosen, lowest := 0.0, math.Inf(1)
	for i, m := range here {
		best, slowest = min(best, m.Seconds), max(slowest, m.Seconds)
		a, known := l.index(m.Algorithm)
		if !known {
			continue
		}
		prediction := predicted[a][p]
		v.Pairs = append(v.Pairs, Pair{Algorithm: m.Algorithm, Measured: targets[i], Predicted: prediction})
		if prediction < lowest {
			lowest, chosen = prediction, m.Seconds
		}
	}
	return cmp.Or(chosen, slowest) / best
}

func compareByCandidate(a, b coll.Measurement) int {
	return coll.CompareCandidates(a.Candidate, b.Candidate)
}
