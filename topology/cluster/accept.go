package cluster

import (
	"cmp"
	"slices"
)

// leastChange is the share of the members that must be in other groups for two
// divisions to be two levels.
const leastChange = 0.1

// accept adds candidates to divisions, finest first, one after another. One is added
// when it is not all or nothing, when it and the others are nested and not nearly the
// same, and when every step between distances is still large enough.
func accept(t table, divisions []Labels, candidates []Labels) []Labels {
	alone := Labels(everyone(t.n))
	out := slices.Clone(divisions)
	for _, c := range candidates {
		k := c.Groups()
		if k < 2 || changed(c, alone) < leastChange || slices.ContainsFunc(out, func(o Labels) bool {
			return changed(c, o) < leastChange || !nested(c, o) && !nested(o, c)
		}) {
			continue
		}
		with := append(slices.Clone(out), c)
		slices.SortStableFunc(with, func(a, b Labels) int { return cmp.Compare(b.Groups(), a.Groups()) })
		if !flat(byLevel(t, with)) {
			out = with
		}
	}
	return out
}

// flat reports whether a step to the next level is too small.
func flat(samples []sample) bool {
	for i := 0; i+1 < len(samples); i++ {
		if !(samples[i+1].mean()-samples[i].mean() >= least) { // NaN without distances
			return true
		}
	}
	return false
}

// changed returns the share of the members whose group is not the same in both.
func changed(a, b Labels) float64 {
	k := b.Groups()
	sizeA, sizeB := a.sizes(), b.sizes()
	shared := map[int]int{}
	for i, g := range a {
		shared[g*k+b[i]]++
	}
	count := 0
	for i, g := range a {
		if n := shared[g*k+b[i]]; n != sizeA[g] || n != sizeB[b[i]] {
			count++
		}
	}
	return float64(count) / float64(len(a))
}

// nested reports whether every group of fine lies in one of coarse.
func nested(fine, coarse Labels) bool {
	within := make([]int, fine.Groups())
	for i := range within {
		within[i] = Noise
	}
	for i, g := range fine {
		if within[g] != Noise && within[g] != coarse[i] {
			return false
		}
		within[g] = coarse[i]
	}
	return true
}

// regular returns the cuts of the dendrogram into groups of one size, those first
// before which it had to reach farthest. Noise hardly ever cuts evenly; where it does
// the next merge is not much farther: by less than 1 + 40/n² in 95 of 100 flat machines
// of 4 to 24 members.
func (h *hierarchy) regular() []Labels {
	type cut struct {
		labels Labels
		reach  float64
	}
	var cuts []cut
	for k := 2; k <= h.N/2; k++ {
		if h.N%k != 0 {
			continue
		}
		labels := h.Cut(k)
		size := labels.sizes()
		if slices.Min(size) != slices.Max(size) {
			continue
		}
		before, next := h.Merges[h.N-k-1].Height, h.Merges[h.N-k].Height
		reach := next / max(before, 1e-12)
		if reach >= 1+40/float64(h.N*h.N) {
			cuts = append(cuts, cut{labels: labels, reach: reach})
		}
	}
	slices.SortStableFunc(cuts, func(a, b cut) int { return cmp.Compare(b.reach, a.reach) })
	var out []Labels
	for _, c := range cuts {
		out = append(out, c.labels)
	}
	return out
}
