package lab

import (
	"cmp"
	"math"
	"slices"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/forest"
)

// forestVariance is the strategy of FACT (Wilkins et al., ExaMPI 2021) with the surrogate of its prototype, a random
// forest instead of a Gaussian process. The forest learns the fastest time at a point. The strategy measures all algorithms
// at the points at which the predictions of the trees vary most. It only explores, as DeepHyper does with an infinite β.
//
// Source: Balaprakash et al., DeepHyper: asynchronous hyperparameter search for deep neural networks (HiPC 2018).
type forestVariance struct {
	forest forest.Options
	log    bool // the forest learns log10 of the times
}

func newForestVariance(log bool) func(seed uint64) (activelearn.Strategy, error) {
	return func(seed uint64) (activelearn.Strategy, error) {
		return &forestVariance{forest.Options{Seed: seed, Workers: 1}, log}, nil
	}
}

// deepHyperInitial is the number of random points that DeepHyper measures first, by default.
const deepHyperInitial = 10

// Ask returns all free candidates at the points with the largest variance. It takes no account of the points of the batch
// itself.
func (f *forestVariance) Ask(s activelearn.State) ([]coll.Candidate, error) {
	rows, targets := f.training(s.Ledger)
	if len(rows) == 0 {
		return activelearn.DrawPoints(s, deepHyperInitial, roundRand(f.forest.Seed, s.Round)), nil
	}
	type place struct {
		point    int
		variance float64
	}
	var free []place
	var at [][]float64
	for i, row := range preprocess.Rows(s.Ledger.Space().Points()) {
		if len(s.Ledger.Free(i)) > 0 {
			free, at = append(free, place{point: i}), append(at, row)
		}
	}
	trained, err := forest.Fit(rows, targets, f.forest)
	if err != nil || len(free) == 0 {
		return nil, err
	}
	_, variance, err := trained.PredictVariance(at)
	if err != nil {
		return nil, err
	}
	for k := range free {
		free[k].variance = variance[k]
	}
	slices.SortStableFunc(free, func(a, b place) int { return cmp.Compare(b.variance, a.variance) })
	var batch []coll.Candidate
	for _, p := range free {
		if len(batch) >= s.Want {
			break
		}
		batch = append(batch, s.Ledger.Free(p.point)...)
	}
	return batch, nil
}

// training returns the features and the fastest time of each measured point.
func (f *forestVariance) training(l *activelearn.Ledger) (rows [][]float64, targets []float64) {
	fastest := map[coll.Point]float64{}
	for m := range l.All() {
		if t, ok := fastest[m.Point]; !ok || m.Seconds < t {
			fastest[m.Point] = m.Seconds
		}
	}
	points := l.Space().Points()
	for i, row := range preprocess.Rows(points) {
		t, ok := fastest[points[i]]
		if !ok {
			continue
		}
		if f.log {
			t = math.Log10(t)
		}
		rows, targets = append(rows, row), append(targets, t)
	}
	return rows, targets
}
