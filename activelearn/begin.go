package activelearn

import (
	"cmp"
	"math"
	"slices"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// begin takes all algorithms at a few points, likely cheap ones first; where earlier
// campaigns are known, some of what they measured.
func (r *regret) begin(s State) []coll.Candidate {
	if batch := r.probes(s); len(batch) > 0 {
		return batch
	}
	order := r.opt.rng(s.Round).Perm(len(r.rows))
	position := r.positions()
	far := slices.DeleteFunc(slices.Clone(order), func(i int) bool { return position[i] <= beginWithin })
	order = append(slices.DeleteFunc(order, func(i int) bool { return position[i] > beginWithin }), far...)
	var out []coll.Candidate
	points := 0
	for _, i := range order {
		if points >= r.opt.Initial && len(out) >= s.Want {
			break
		}
		if here := s.Ledger.Free(i); len(here) > 0 {
			out = append(out, here...)
			points++
		}
	}
	return out
}

// positions of the points between the least and the greatest of the space, from 0 to
// 1, on average over nodes, ppn and bytes as far as they vary.
func (r *regret) positions() []float64 {
	out := make([]float64, len(r.rows))
	varying := 0.0
	for d := range preprocess.FeatureNames {
		low, high := r.rows[0][d], r.rows[0][d]
		for _, row := range r.rows {
			low, high = min(low, row[d]), max(high, row[d])
		}
		if high == low {
			continue
		}
		varying++
		for i, row := range r.rows {
			out[i] += (row[d] - low) / (high - low)
		}
	}
	for i := range out {
		out[i] /= max(1, varying)
	}
	return out
}

// probes are candidates that earlier campaigns measured, as many as are wanted and at
// least one of each algorithm. The algorithms take turns; each gives the candidate of its
// cheaper half that is farthest from the probes so far. So a change of one algorithm, of
// large messages or of many nodes shows in them.
func (r *regret) probes(s State) []coll.Candidate {
	cheap := make([][]probe, len(r.index))
	seen := map[coll.Candidate]bool{}
	for _, ms := range r.opt.Earlier {
		for _, m := range ms {
			if i, ok := s.Ledger.Space().Index(m.Point); ok && !seen[m.Candidate] && s.Ledger.IsFree(m.Candidate) {
				seen[m.Candidate] = true
				a := r.index[m.Algorithm]
				cheap[a] = append(cheap[a], probe{m.Candidate, i, m.CostSeconds})
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
			k := r.farthest(cheap[a], out)
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

// probe is a candidate that an earlier campaign measured.
type probe struct {
	coll.Candidate
	point   int
	seconds float64
}

// farthest is the probe whose nearest neighbour among those taken is farthest, in
// length scales, those of other algorithms being one farther off. With none taken it
// is the most expensive.
func (r *regret) farthest(some, taken []probe) int {
	if len(taken) == 0 {
		return len(some) - 1
	}
	length := learner.LengthScales()
	at, most := 0, -1.0
	for k, p := range some {
		nearest := math.Inf(1)
		for _, q := range taken {
			d := 0.0
			for c, v := range r.rows[p.point] {
				t := (v - r.rows[q.point][c]) / length[c]
				d += t * t
			}
			if q.Algorithm != p.Algorithm {
				d++
			}
			nearest = min(nearest, d)
		}
		if nearest > most {
			at, most = k, nearest
		}
	}
	return at
}
