package lab

import (
	"math"
	"os"
	"slices"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/forest"
)

// deviation is the strategy of FACT (Wilkins et al., ExaMPI 2021) with the surrogate of its prototype, DeepHyper's random
// forest in place of a Gaussian process. A forest learns log10 of the fastest time at a point. The strategy measures
// all algorithms at the points at which the trees differ most. DeepHyper explores only, as if its β were infinite.
//
// Source: Balaprakash et al., DeepHyper (HiPC 2018).
type deviation struct{ forest forest.Options }

// Ask returns all free candidates at the points at which the predictions of the trees vary most.
func (d *deviation) Ask(s activelearn.State) ([]coll.Candidate, error) {
	points := s.Ledger.Space().Points()
	fastest := map[coll.Point]float64{}
	for m := range s.Ledger.All() {
		if t, ok := fastest[m.Point]; !ok || m.Seconds < t {
			fastest[m.Point] = m.Seconds
		}
	}
	if len(fastest) == 0 {
		return activelearn.DrawPoints(s, 10, roundRand(d.forest.Seed, s.Round)), nil
	}
	var rows, free [][]float64
	var targets []float64
	var places []int
	for i, p := range points {
		row := preprocess.Features(p)
		if t, ok := fastest[p]; ok {
			if os.Getenv("RAW") != "" {
				targets = append(targets, t)
			} else {
				targets = append(targets, math.Log10(t))
			}
			rows = append(rows, row[:])
		}
		if len(s.Ledger.Free(i)) > 0 {
			places, free = append(places, i), append(free, row[:])
		}
	}
	trained, err := forest.Fit(rows, targets, d.forest)
	if err != nil || len(free) == 0 {
		return nil, err
	}
	_, variance, err := trained.PredictVariance(free)
	if err != nil {
		return nil, err
	}
	order := make([]int, len(free))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case variance[a] > variance[b]:
			return -1
		case variance[a] < variance[b]:
			return 1
		}
		return 0
	})
	var batch []coll.Candidate
	for _, i := range order {
		if len(batch) >= s.Want {
			break
		}
		batch = append(batch, s.Ledger.Free(places[i])...)
	}
	return batch, nil
}
