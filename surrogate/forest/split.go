package forest

import (
	"math"
	"math/bits"
)

// bin holds those groups of a node that have the same rank of one feature.
type bin struct {
	sums
	rank uint32
}

// buckets sorts the groups of a node by the rank of a feature, and adds up the groups of equal rank. All
// nodes use the same memory, which is all zero at the start of each node.
type buckets struct {
	sums  []sums   // by rank
	marks []uint64 // one bit for each rank that has a sum
	bins  []bin
}

// init allocates the memory for any node. `widest` is the largest number of distinct values of a feature.
func (b *buckets) init(widest, groups int) {
	b.sums = make([]sums, widest)
	b.marks = make([]uint64, (widest+63)/64)
	b.bins = make([]bin, 0, groups)
}

// fill sorts the groups by one feature and returns their bins in ascending order of rank. The next call
// overwrites the bins.
func (b *buckets) fill(col []uint32, stats []sums, groups []uint32) []bin {
	last := uint32(0)
	for _, c := range groups {
		r := col[c]
		b.sums[r].add(stats[c])
		b.marks[r/64] |= 1 << (r % 64)
		last = max(last, r)
	}
	bins := b.bins[:0]
	for m := range b.marks[:last/64+1] {
		for mask := b.marks[m]; mask != 0; mask &= mask - 1 {
			r := uint32(m*64 + bits.TrailingZeros64(mask))
			bins = append(bins, bin{b.sums[r], r})
			b.sums[r] = sums{}
		}
		b.marks[m] = 0
	}
	return bins
}

// scanSquares replaces *best by the split that reduces the squared error most. Of equally good splits the
// first one counts.
//
// Let w be the weight of the node, wl and wr the weights of its left and right side. The reduction is
// wl·wr·(meanL - meanR)²/w = w·d²/(wl·wr) with d = meanL·wl - mean·wl. The score omits the constant factor w.
// Scores are compared as fractions, so the loop does not divide.
func scanSquares(f int, bins []bin, n *total, best *split) {
	found := -1
	w, mean, num, den := n.weight, n.mean, best.num, best.den
	var left sums
	for k := range bins[:len(bins)-1] {
		left.add(bins[k].sums)
		wl := float64(left.weight)
		d := left.sum - mean*wl
		if u, v := d*d, wl*(w-wl); u*den > num*v && n.allows(left.rows) {
			found, num, den = k, u, v
		}
	}
	if found >= 0 {
		*best = split{feature: f, a: bins[found].rank, b: bins[found+1].rank, num: num, den: den}
	}
}

// scanPoisson replaces *best by the split with the smallest Poisson deviance. This split has the largest
// sumL·log(meanL) + sumR·log(meanR). A child whose sum is 0 up to rounding errors is not allowed, because
// its prediction would be 0.
func scanPoisson(f int, bins []bin, n *total, best *split) {
	zero := n.sum * 0x1p-52
	var left sums
	for k := range bins[:len(bins)-1] {
		left.add(bins[k].sums)
		wl, right := float64(left.weight), n.sum-left.sum
		if left.sum <= zero || right <= zero || !n.allows(left.rows) {
			continue
		}
		score := left.sum*math.Log(left.sum/wl) + right*math.Log(right/(n.weight-wl))
		if score > best.num {
			*best = split{feature: f, a: bins[k].rank, b: bins[k+1].rank, num: score, den: 1}
		}
	}
}
