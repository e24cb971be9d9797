package forest

import (
	"math"
	"math/bits"
)

// These constants describe the words of the bit masks in buckets.
const (
	wordLen   = 64
	wordShift = 6 // log2 of wordLen
	wordMask  = wordLen - 1
	topMask   = wordLen*wordLen - 1 // ranks of a word of tops, minus one
)

// bin holds those groups of a node that have the same rank of one feature.
type bin struct {
	stat
	rank uint32
}

// buckets sorts the groups of a node by the rank of a feature, and adds up the groups of equal rank. All
// nodes use the same memory, which is all zero at the start of each node.
type buckets struct {
	low   [64]stat // sums by rank, for features of at most 64 values
	sums  []stat   // sums by rank, for wider features
	marks []uint64 // one bit for each rank that has a sum
	tops  []uint64 // one bit for each word of marks that is not zero
	keys  []uint64 // rank and group, for small nodes under wide features
	bins  []bin
}

// A node with fewer than sortBelow groups is sorted by insertion, which is then faster than bit masks. The
// limit was measured with features of 500 to 20000 distinct values. Limits between 8 and 24 are about
// equally fast.
const sortBelow = 16

func (b *buckets) init(widest, groups int) {
	if widest > len(b.low) {
		b.sums = make([]stat, widest)
		b.marks = make([]uint64, (widest+wordMask)/wordLen)
		b.tops = make([]uint64, (len(b.marks)+wordMask)/wordLen)
		b.keys = make([]uint64, sortBelow)
	}
	b.bins = make([]bin, groups)
}

// fill sorts the groups by one feature and returns their bins in ascending order of rank. The parameter
// `values` is the number of distinct values of the feature. The next call overwrites the bins.
func (b *buckets) fill(col []uint32, values int, stats []stat, groups []uint32) []bin {
	switch {
	case values <= len(b.low):
		return b.fillLow(col, stats, groups)
	case len(groups) < sortBelow:
		return b.fillSorted(col, stats, groups)
	default:
		return b.fillMarked(col, values, stats, groups)
	}
}

func (b *buckets) fillLow(col []uint32, stats []stat, groups []uint32) []bin {
	var mask uint64
	for _, c := range groups {
		r := col[c] & wordMask
		st := &stats[c]
		h := &b.low[r]
		h.sum += st.sum
		h.wn += st.wn
		mask |= 1 << r
	}
	bins := b.bins[:bits.OnesCount64(mask)]
	for k := range bins {
		r := bits.TrailingZeros64(mask) & wordMask
		mask &= mask - 1
		bins[k] = bin{b.low[r], uint32(r)}
		b.low[r] = stat{}
	}
	return bins
}

func (b *buckets) fillSorted(col []uint32, stats []stat, groups []uint32) []bin {
	keys := b.keys[:len(groups)]
	for k, c := range groups {
		key := uint64(col[c])<<32 | uint64(c)
		j := k
		for ; j > 0 && keys[j-1] > key; j-- {
			keys[j] = keys[j-1]
		}
		keys[j] = key
	}
	bins := b.bins[:0]
	last := uint32(math.MaxUint32) // not a rank: ranks are below maxRows
	for _, key := range keys {
		r, st := uint32(key>>32), &stats[uint32(key)]
		if r != last {
			bins = append(bins, bin{rank: r})
			last = r
		}
		h := &bins[len(bins)-1]
		h.sum += st.sum
		h.wn += st.wn
	}
	return bins
}

func (b *buckets) fillMarked(col []uint32, values int, stats []stat, groups []uint32) []bin {
	sums := b.sums[:values]
	for _, c := range groups {
		r := col[c]
		st := &stats[c]
		h := &sums[r]
		h.sum += st.sum
		h.wn += st.wn
		b.marks[r>>wordShift] |= 1 << (r & wordMask)
		b.tops[r>>(2*wordShift)] |= 1 << (r >> wordShift & wordMask)
	}
	bins := b.bins[:0]
	for t := range b.tops[:(values+topMask)>>(2*wordShift)] {
		for top := b.tops[t]; top != 0; top &= top - 1 {
			m := t<<wordShift | bits.TrailingZeros64(top)
			for mask := b.marks[m]; mask != 0; mask &= mask - 1 {
				r := m<<wordShift | bits.TrailingZeros64(mask)
				bins = append(bins, bin{sums[r], uint32(r)})
				sums[r] = stat{}
			}
			b.marks[m] = 0
		}
		b.tops[t] = 0
	}
	return bins
}

// scanSquares replaces *best by the split that reduces the squared error most. Of equally good splits the
// first one counts.
//
// Let w be the weight of the node, wl and wr the weights of its left and right side. The reduction is
// wl·wr·(meanL - meanR)²/w = w·d²/(wl·wr) with d = meanL·wl - mean·wl. The score omits the constant factor w.
// Scores are compared as fractions, so the loop does not divide.
func scanSquares(f int, bins []bin, n *node, best *split) {
	found := -1
	w, mean, num, den := n.weight, n.mean, best.num, best.den
	var left stat
	for k := range bins[:len(bins)-1] {
		left.sum += bins[k].sum
		left.wn += bins[k].wn
		wl := left.weight()
		d := left.sum - mean*wl
		if u, v := d*d, wl*(w-wl); u*den > num*v && n.allows(left.rows()) {
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
func scanPoisson(f int, bins []bin, n *node, best *split) {
	zero := n.sum * 0x1p-52
	var left stat
	for k := range bins[:len(bins)-1] {
		left.sum += bins[k].sum
		left.wn += bins[k].wn
		wl, right := left.weight(), n.sum-left.sum
		if left.sum <= zero || right <= zero || !n.allows(left.rows()) {
			continue
		}
		score := left.sum*math.Log(left.sum/wl) + right*math.Log(right/(n.weight-wl))
		if score > best.num {
			*best = split{feature: f, a: bins[k].rank, b: bins[k+1].rank, num: score, den: 1}
		}
	}
}
