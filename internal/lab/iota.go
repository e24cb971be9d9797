package lab

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/sampleuv"

	"tutti/activelearn"
	"tutti/coll"
)

// weightedDraws is the strategy of IOTA (Steiner, TU Wien 2023): it measures random calls. All points have the
// same probability. Algorithms are drawn with weights 1/t, where t is the time that IOTA's boosted trees predict.
// IOTA can measure a candidate again; weightedDraws leaves out measured candidates.
type weightedDraws struct {
	seed   uint64
	ledger *activelearn.Ledger // of the last Ask

	trained   IOTA
	trainedOn int // measurements
}

// Ask draws candidates that are neither measured nor pending.
func (w *weightedDraws) Ask(s activelearn.State) ([]coll.Candidate, error) {
	w.ledger = s.Ledger
	var free []coll.Candidate
	var weights []float64
	w.predict(func(candidates []coll.Candidate, seconds []float64) {
		for k, weight := range IOTAWeights(seconds) {
			if s.Ledger.IsFree(candidates[k]) {
				free, weights = append(free, candidates[k]), append(weights, weight)
			}
		}
	})
	draws := sampleuv.NewWeighted(weights, roundRand(w.seed, s.Round))
	var batch []coll.Candidate
	for len(batch) < min(s.Want, len(free)) {
		k, _ := draws.Take()
		batch = append(batch, free[k])
	}
	return batch, nil
}

// predict trains IOTA's models if there are new measurements. At each point it calls use() with the candidates
// and their predicted times in seconds.
func (w *weightedDraws) predict(use func(candidates []coll.Candidate, seconds []float64)) {
	space := w.ledger.Space()
	if ms := w.ledger.Measurements(); len(ms) != w.trainedOn {
		w.trained, w.trainedOn = TrainIOTA(ms, len(space.Algorithms())), len(ms)
	}
	for i, p := range space.Points() {
		candidates := space.At(i)
		algorithms := make([]coll.Algorithm, len(candidates))
		for k, c := range candidates {
			algorithms[k] = c.Algorithm
		}
		use(candidates, w.trained.Seconds(p, algorithms))
	}
}

// choose implements chooser: at each point it selects the algorithm with the lowest prediction, or a random one
// before the models are trained.
func (w *weightedDraws) choose() (activelearn.Choice, error) {
	chosen, rng := map[coll.Point]coll.Algorithm{}, roundRand(w.seed, 0)
	w.predict(func(candidates []coll.Candidate, seconds []float64) {
		fastest := candidates[floats.MinIdx(seconds)] // skips NaN
		if w.trained == nil {
			fastest = candidates[rng.IntN(len(candidates))]
		}
		chosen[fastest.Point] = fastest.Algorithm
	})
	return func(p coll.Point) coll.Algorithm { return chosen[p] }, nil
}
