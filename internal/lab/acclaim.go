package lab

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/forest"
)

// treeVariance is the strategy of ACCLAiM (Wilkins et al., CLUSTER 2022) as its authors released it: one forest for
// a collective, with the algorithm's number as a feature. Each round measures all algorithms at the point of the
// candidate whose predictions vary most over the trees. The target of a time is log10(r) + 1, where r is its ratio
// to the time of the first algorithm at the point. The forest has scikit-learn's defaults. The released code can
// select a point again; treeVariance leaves out measured points.
//
// Source: github.com/pmodels/acclaim, src/active_learner.
type treeVariance struct {
	forest forest.Options
	ledger *activelearn.Ledger // of the last Ask

	trained   *forest.Forest
	trainedOn int // measurements
}

// firstPoints is a number of evenly spaced points, from the first to the last. ACCLAiM begins with all of them
// except the last.
const firstPoints = 4

// Ask returns all algorithms at the first points, later at the point of the largest variance.
func (a *treeVariance) Ask(s activelearn.State) ([]coll.Candidate, error) {
	a.ledger = s.Ledger
	points := len(s.Ledger.Space().Points())
	var batch []coll.Candidate
	if s.Ledger.CandidatesMeasured() == 0 {
		for k := range min(firstPoints-1, points) {
			batch = append(batch, s.Ledger.Free(k*(points-1)/(firstPoints-1))...)
		}
		return batch, nil
	}
	trained, err := a.fit()
	if err != nil {
		return nil, err
	}
	var free []coll.Candidate
	for i := range points {
		free = append(free, s.Ledger.Free(i)...)
	}
	_, variance, err := trained.PredictVariance(a.rows(free))
	if err != nil || len(free) == 0 {
		return nil, err
	}
	at, _ := s.Ledger.Space().Index(free[floats.MaxIdx(variance)].Point)
	return s.Ledger.Free(at), nil
}

func (a *treeVariance) fit() (*forest.Forest, error) {
	first := map[coll.Point]coll.Measurement{}
	ms := a.ledger.Measurements()
	if a.trained != nil && a.trainedOn == len(ms) {
		return a.trained, nil
	}
	candidates := make([]coll.Candidate, len(ms))
	for i, m := range ms {
		candidates[i] = m.Candidate
		if f, ok := first[m.Point]; !ok || coll.CompareAlgorithms(m.Algorithm, f.Algorithm) < 0 {
			first[m.Point] = m
		}
	}
	targets := make([]float64, len(ms))
	for i, m := range ms {
		targets[i] = math.Log10(m.Seconds/first[m.Point].Seconds) + 1
	}
	var err error
	a.trained, err = forest.Fit(a.rows(candidates), targets, a.forest)
	a.trainedOn = len(ms)
	return a.trained, err
}

// rows returns the features of candidates: those of the point, and the number of the algorithm.
func (a *treeVariance) rows(candidates []coll.Candidate) [][]float64 {
	number := map[coll.Algorithm]float64{}
	for k, alg := range a.ledger.Space().Algorithms() {
		number[alg] = float64(k)
	}
	out := make([][]float64, len(candidates))
	for i, c := range candidates {
		f := preprocess.Features(c.Point)
		out[i] = append(f[:], number[c.Algorithm])
	}
	return out
}

// choose implements chooser: at each point it selects the algorithm with the lowest prediction.
func (a *treeVariance) choose() (activelearn.Choice, error) {
	trained, err := a.fit()
	if err != nil {
		return nil, err
	}
	space := a.ledger.Space()
	predicted, err := trained.Predict(a.rows(space.Candidates()))
	if err != nil {
		return nil, err
	}
	chosen, least := map[coll.Point]coll.Algorithm{}, map[coll.Point]float64{}
	for i, c := range space.Candidates() {
		if v, ok := least[c.Point]; !ok || predicted[i] < v {
			chosen[c.Point], least[c.Point] = c.Algorithm, predicted[i]
		}
	}
	return func(p coll.Point) coll.Algorithm { return chosen[p] }, nil
}
