package activelearn

import (
	"cmp"
	"math"
	"slices"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// initialDesign returns the candidates for the first rounds: all algorithms at a few random points, starting
// with points that are likely to be cheap. If earlier campaigns have measurements in the space, it returns
// some of their candidates instead.
func (r *regret) initialDesign(s State) []coll.Candidate {
	if batch := r.probes(s); len(batch) > 0 {
		return batch
	}
	order := r.opt.rng(s.Round).Perm(len(r.points))
	position := r.positions()
	far := slices.DeleteFunc(slices.Clone(order), func(i int) bool { return position[i] <= maxInitialPosition })
	order = append(slices.DeleteFunc(order, func(i int) bool { return position[i] > maxInitialPosition }), far...)
	return freeCandidates(s, r.opt.Initial, order)
}

// positions returns the position of each point in the ranges of the space, from 0 to 1; see maxInitialPosition. A
// quantity with a single value in the space does not count.
func (r *regret) positions() []float64 {
	out, rows := make([]float64, len(r.points)), preprocess.SurrogateRows(r.points)
	varying := 0.0
	for d := range preprocess.NumFeatures {
		low, high := rows[0][d], rows[0][d]
		for _, row := range rows {
			low, high = min(low, row[d]), max(high, row[d])
		}
		if high == low {
			continue
		}
		varying++
		for i, row := range rows {
			out[i] += (row[d] - low) / (high - low)
		}
	}
	for i := range out {
		out[i] /= max(1, varying)
	}
	return out
}

// probes returns candidates that earlier campaigns measured: at least one for each algorithm, and State.Want
// in total. The algorithms take turns. In each turn one candidate is added, from the cheaper half of the
// algorithm's candidates. It is the one that is farthest from all probes so far. The probes can thus reveal
// that one algorithm, large messages or many nodes have changed.
func (r *regret) probes(s State) []coll.Candidate {
	cheap := make([][]probe, len(r.index))
	seen := map[coll.Candidate]bool{}
	for _, ms := range r.opt.Earlier {
		for _, m := range ms {
			if !seen[m.Candidate] && s.Ledger.IsFree(m.Candidate) {
				seen[m.Candidate] = true
				a := r.index[m.Algorithm]
				cheap[a] = append(cheap[a], probe{m.Candidate, preprocess.SurrogateRows([]coll.Point{m.Point})[0], m.CostSeconds})
			}
		}
	}
	for a, here := range cheap {
		slices.SortStableFunc(here, func(p, q probe) int { return cmp.Compare(p.seconds, q.seconds) })
		cheap[a] = here[:(len(here)+1)/2]
	}
	var out []probe
	for more := true; more; {
		more = false
		for a := range cheap {
			if len(out) >= max(s.Want, len(cheap)) || len(cheap[a]) == 0 {
				continue
			}
			k := farthest(cheap[a], out)
			out = append(out, cheap[a][k])
			cheap[a] = slices.Delete(cheap[a], k, k+1)
			more = true
		}
	}
	var batch []coll.Candidate
	for _, p := range out {
		batch = append(batch, p.Candidate)
	}
	return batch
}

// probe is a candidate that an earlier campaign measured, and that may be measured again to detect changes.
type probe struct {
	coll.Candidate
	row     []float64
	seconds float64 // machine time
}

// farthest returns the index of the probe in `some` that is farthest from its nearest neighbor in `selected`.
// Distances are in length scales of the Gaussian process; a different algorithm adds 1 to the squared
// distance. If `selected` is empty, it returns the most expensive probe.
func farthest(some, selected []probe) int {
	if len(selected) == 0 {
		return len(some) - 1
	}
	length := learner.LengthScales()
	at, greatest := 0, -1.0
	for k, p := range some {
		nearest := math.Inf(1)
		for _, q := range selected {
			d := 0.0
			for c, v := range p.row {
				t := (v - q.row[c]) / length[c]
				d += t * t
			}
			if q.Algorithm != p.Algorithm {
				d++
			}
			nearest = min(nearest, d)
		}
		if nearest > greatest {
			at, greatest = k, nearest
		}
	}
	return at
}
