package activelearn

import (
	"math"
	"slices"

	"tutti/coll"
	"tutti/preprocess"
)

// jackknife is ACCLAiM's choice: single (point, algorithm) candidates by the
// variance of the algorithm's forest (Wilkins et al., CLUSTER 2022). A batch is
// picked greedily; each pick pushes down its neighbours of the same algorithm,
// which stands for the variance it will remove (local penalisation in the manner
// of González et al., AISTATS 2016).
type jackknife struct{ opt Options }

// penaltyRange is the distance, in features (doublings), at which a pending
// neighbour takes away 1 - 1/e of the score.
const penaltyRange = 1.0

// Ask returns the candidates of highest variance.
func (j *jackknife) Ask(s State) ([]coll.Candidate, error) {
	if s.Learner == nil {
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
	for a, alg := range sp.Algorithms() {
		var points []coll.Point
		for i, p := range sp.Points() {
			if s.Ledger.left[i] > 0 && s.Ledger.IsFree(coll.Candidate{Point: p, Algorithm: alg}) && slices.Contains(sp.Feasible(i), a) {
				points = append(points, p)
			}
		}
		if len(points) == 0 {
			continue
		}
		variance, err := s.Learner.PredictVariance(alg, points)
		if err != nil {
			return nil, err
		}
		for i, p := range points {
			score := math.MaxFloat64
			if variance != nil {
				score = variance[i]
			}
			score *= 1 - 1e-9*rng.Float64() // equal variances are common: forests are steps
			out = append(out, scoredCandidate{coll.Candidate{Point: p, Algorithm: alg}, preprocess.Features(p), score})
		}
	}
	return out, nil
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
