package discover

import (
	"cmp"
	"math"
	"slices"
)

// hierarchy is a dendrogram that also has the mean distance of each merge.
type hierarchy struct {
	Dendrogram
	order  []int // all members; the members of each group are adjacent
	spans  []span
	height []float64 // for each merge: mean logarithm of the distances between its two groups
}

type span struct{ from, to int }

// Dendrogram clusters the members of a complete matrix by average linkage of the logarithms of distances. A
// height is the logarithm of a distance divided by the smallest distance. The result `order` lists the
// members so that the members of each group are adjacent. It takes O(n²) time.
func (m Matrix) Dendrogram() (d Dendrogram, order []int) {
	h := byDistance(logs(m, m.smallest()))
	return h.Dendrogram, h.order
}

// byDistance builds the hierarchy by average linkage of the logarithms of distances. If there are
// repetitions, it finds small groups among many members better than the function byProfile.
func byDistance(t Matrix) hierarchy {
	return newHierarchy(t, Agglomerate(t, Average))
}

// byProfile builds the hierarchy by Ward linkage of profiles. A profile is a member's row of the distance
// matrix. The comparison of two rows averages over the noise of single distances.
func byProfile(t Matrix) hierarchy {
	return newHierarchy(t, Agglomerate(profile(t), Ward))
}

func newHierarchy(t Matrix, d Dendrogram) hierarchy {
	h := hierarchy{Dendrogram: d}
	h.spans = make([]span, t.n+len(h.Merges))
	h.orderMembers(t.n + len(h.Merges) - 1)
	for m := range h.Merges {
		s := h.between(m, t)
		h.height = append(h.height, s.mean())
	}
	return h
}

// orderMembers appends the members of a group to h.order. It records where this group and the two groups from
// which it was merged begin and end there.
func (h *hierarchy) orderMembers(group int) {
	from := len(h.order)
	if group < h.N {
		h.order = append(h.order, group)
	} else {
		m := h.Merges[group-h.N]
		h.orderMembers(m.A)
		h.orderMembers(m.B)
	}
	h.spans[group] = span{from: from, to: len(h.order)}
}

// sample holds statistics of logarithms of distances: their number, their sum and the sum of their squares.
type sample struct{ n, sum, squares float64 }

func (s *sample) add(x float64) {
	s.n++
	s.sum += x
	s.squares += x * x
}

func (s sample) plus(o sample) sample {
	return sample{n: s.n + o.n, sum: s.sum + o.sum, squares: s.squares + o.squares}
}

func (s sample) minus(o sample) sample {
	return sample{n: s.n - o.n, sum: s.sum - o.sum, squares: s.squares - o.squares}
}

func (s sample) mean() float64 { return s.sum / s.n }

func (s sample) variance() float64 { return max(s.squares/s.n-s.mean()*s.mean(), 0) }

func (h *hierarchy) between(m int, t Matrix) sample {
	a, b := h.spans[h.Merges[m].A], h.spans[h.Merges[m].B]
	var s sample
	for _, i := range h.order[a.from:a.to] {
		row := t.Row(i)
		for _, j := range h.order[b.from:b.to] {
			s.add(row[j])
		}
	}
	return s
}

// ascending returns the numbers of the merges in the order of their heights. No merge comes before the
// merges that created its two groups.
func (h *hierarchy) ascending() []int {
	height := slices.Clone(h.height)
	out := make([]int, len(height))
	for t, m := range h.Merges {
		out[t] = t
		for _, g := range []int{m.A, m.B} {
			if g >= h.N {
				height[t] = max(height[t], height[g-h.N])
			}
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(height[a], height[b]) })
	return out
}

type step struct {
	level  float64 // mean natural logarithm of the distance
	weight float64 // number of pairs
}

// steps divides the merges, in ascending order of height, into parts with clearly different distances. It returns
// the mean distance of each part. The distances come from the matrix `t`, the hierarchy may come from another
// matrix. Two successive means differ by at least 4.5 standard errors (leastConfirmedZ) and by at least 10 %
// (leastStep).
func (h *hierarchy) steps(t Matrix) []step {
	sums := []sample{{}}
	for _, m := range h.ascending() {
		sums = append(sums, sums[len(sums)-1].plus(h.between(m, t)))
	}
	c := changes{sums: sums}
	c.find(0, len(sums)-1)
	slices.Sort(c.at)
	for {
		out := c.steps()
		weakest, least := -1, leastStep
		for i := 1; i < len(out); i++ {
			if d := out[i].level - out[i-1].level; d < least {
				weakest, least = i-1, d
			}
		}
		if weakest < 0 {
			return out
		}
		c.at = slices.Delete(c.at, weakest, weakest+1)
	}
}

// changes finds the points at which the mean of a sequence increases, by binary segmentation. sums[i] holds
// the statistics of the first i elements.
type changes struct {
	sums []sample
	at   []int
}

func (c *changes) find(from, to int) {
	all := c.sums[to].minus(c.sums[from])
	best, at := 0.0, -1
	for i := from + 1; i < to; i++ {
		low, high := c.sums[i].minus(c.sums[from]), c.sums[to].minus(c.sums[i])
		rise := high.mean() - low.mean()
		if gain := low.n * high.n / all.n * rise * rise; rise > 0 && gain > best {
			best, at = gain, i
		}
	}
	if at < 0 || all.n <= 2 {
		return
	}
	left := max((all.variance()*all.n-best)/(all.n-2), 1e-12) // residual variance
	if math.Sqrt(best/left) < leastConfirmedZ {
		return
	}
	c.at = append(c.at, at)
	c.find(from, at)
	c.find(at, to)
}

func (c *changes) steps() []step {
	var out []step
	from := 0
	for _, to := range append(slices.Clone(c.at), len(c.sums)-1) {
		s := c.sums[to].minus(c.sums[from])
		out = append(out, step{level: s.mean(), weight: s.n})
		from = to
	}
	return out
}
