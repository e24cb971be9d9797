package activelearn

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/forest"
)

// jackknife is ACCLAiM's choice: single (point, algorithm) candidates by the
// variance of the algorithm's forest (Wilkins et al., CLUSTER 2022). The forests
// are of log10 of the time itself: relative to the fastest algorithm, one that won
// at every point so far would show no variance and never be measured again. Each
// is standardised, or the algorithm with the widest range would take every run.
//
// A batch is picked greedily; each pick pushes down its neighbours of the same
// algorithm, which stands for the variance it will remove (local penalisation in
// the manner of González et al., AISTATS 2016).
type jackknife struct{ opt Options }

// penaltyRange is the distance, in features (doublings), at which a pending
// neighbour takes away 1 - 1/e of the score.
const penaltyRange = 1.0

// Ask returns the candidates of highest variance.
func (j *jackknife) Ask(s State) ([]coll.Candidate, error) {
	if len(s.Ledger.Measurements()) == 0 {
		return initialBatch(s, j.opt), nil
	}
	scored, err := j.score(s)
	if err != nil {
		return nil, err
	}
	for _, p := range s.Ledger.pendingCandidates() {
		penalise(scored, p)
	}
	var batch []coll.Candidate
	for len(batch) < s.Want && len(scored) > 0 {
		best := 0
		for i := range scored {
			if scored[i].score > scored[best].score {
				best = i
			}
		}
		pick := scored[best].candidate
		batch = append(batch, pick)
		scored[best] = scored[len(scored)-1]
		scored = scored[:len(scored)-1]
		penalise(scored, pick)
	}
	return batch, nil
}

type scoredCandidate struct {
	candidate coll.Candidate
	features  [3]float64
	score     float64
}

// score returns the free candidates with their variance. An algorithm without
// any measurement is infinitely uncertain.
func (j *jackknife) score(s State) ([]scoredCandidate, error) {
	sp := s.Ledger.Space()
	rng := j.opt.rng(s.Round)
	var out []scoredCandidate
	for _, alg := range sp.Algorithms() {
		var points []coll.Point
		for i, p := range sp.Points() {
			if s.Ledger.left[i] > 0 && s.Ledger.IsFree(coll.Candidate{Point: p, Algorithm: alg}) {
				points = append(points, p)
			}
		}
		variance, err := j.variance(s.Ledger.Measurements(), alg, points)
		if err != nil {
			return nil, err
		}
		for i, p := range points {
			// Forests are steps, so equal variances are common: drawn lots decide.
			score := variance[i] * (1 - 1e-9*rng.Float64())
			out = append(out, scoredCandidate{coll.Candidate{Point: p, Algorithm: alg}, preprocess.Features(p), score})
		}
	}
	return out, nil
}

// variance of the standardised log10 seconds of one algorithm at the points.
func (j *jackknife) variance(ms []coll.Measurement, alg coll.Algorithm, points []coll.Point) ([]float64, error) {
	if len(points) == 0 {
		return nil, nil
	}
	var x [][]float64
	var y []float64
	for _, m := range ms {
		if m.Algorithm == alg {
			f := preprocess.Features(m.Point)
			x = append(x, f[:])
			y = append(y, math.Log10(m.Seconds))
		}
	}
	if len(x) == 0 {
		return slices.Repeat([]float64{math.MaxFloat64}, len(points)), nil
	}
	standardise(y)
	f, err := forest.Fit(x, y, j.opt.Forest)
	if err != nil {
		return nil, err
	}
	_, variance, err := f.PredictVariance(preprocess.Rows(points))
	return variance, err
}

// standardise brings values to mean 0 and deviation 1; values that do not vary
// stay.
func standardise(y []float64) {
	mean, deviation := stat.PopMeanStdDev(y, nil)
	if deviation == 0 {
		return
	}
	for i := range y {
		y[i] = (y[i] - mean) / deviation
	}
}

func penalise(scored []scoredCandidate, pick coll.Candidate) {
	at := preprocess.Features(pick.Point)
	for i := range scored {
		if scored[i].candidate.Algorithm != pick.Algorithm {
			continue
		}
		d2 := 0.0
		for k, v := range scored[i].features {
			d2 += (v - at[k]) * (v - at[k])
		}
		scored[i].score *= 1 - math.Exp(-d2/(penaltyRange*penaltyRange))
	}
}
