package selection

import (
	"cmp"
	"slices"

	"tutti/coll"
)

// price is the cost that dynamic programming minimizes: first the number of leaves, then the total loss.
type price struct {
	leaves int
	loss   float64
}

func (p price) add(q price) price { return price{p.leaves + q.leaves, p.loss + q.loss} }

func (p price) less(q price) bool {
	return cmp.Or(cmp.Compare(p.leaves, q.leaves), cmp.Compare(p.loss, q.loss)) < 0
}

// part holds the result of merging the consecutive items `first` to `last`-1 of a sequence.
type part[T any] struct {
	first, last int
	value       T
}

// partition splits a sequence of n items into parts so that the total price is lowest. The function `merge`
// makes one part of the items `first` to `last`-1, or returns false if this is impossible. Longer parts with
// the same end are then impossible, too. Every single item must be a valid part.
func partition[T any](n int, merge func(first, last int) (T, price, bool)) ([]part[T], price) {
	best := make([]price, n+1)
	cut := make([]part[T], n+1)
	for last := 1; last <= n; last++ {
		for first := last - 1; first >= 0; first-- {
			value, own, ok := merge(first, last)
			if !ok {
				break
			}
			if total := best[first].add(own); first == last-1 || total.less(best[last]) {
				best[last], cut[last] = total, part[T]{first, last, value}
			}
		}
	}
	var parts []part[T]
	for at := n; at > 0; at = cut[at].first {
		parts = append(parts, cut[at])
	}
	slices.Reverse(parts)
	return parts, best[n]
}

// mergeComms merges the layouts of a collective into ranges of communicator size, each with ranges of processes
// per node. The layouts must be sorted by number of ranks.
func (r reach) mergeComms(layouts []layoutChoices) []CommRange {
	sizes := chunk(layouts, func(a, b layoutChoices) bool { return a.ranks == b.ranks })
	parts, _ := partition(len(sizes), func(first, last int) ([]PPNRange, price, bool) {
		pool := slices.Concat(sizes[first:last]...)
		return r.mergePPNs(pool, sizes[first:last])
	})
	var out []CommRange
	for _, p := range parts {
		for _, same := range sizes[p.first:p.last] {
			out = append(out, CommRange{Low: same[0].ranks, High: same[0].ranks, PPNs: p.value})
		}
	}
	return r.fillCommGaps(out)
}

// mergePPNs divides the processes per node into ranges that are valid for all the given communicator sizes,
// which are neighbors. It returns false if no common ranges exist.
func (r reach) mergePPNs(pool []layoutChoices, sizes [][]layoutChoices) ([]PPNRange, price, bool) {
	for _, s := range sizes {
		if s[0].ppn != sizes[0][0].ppn || s[len(s)-1].ppn != sizes[0][len(sizes[0])-1].ppn {
			return nil, price{}, false
		}
	}
	slices.SortStableFunc(pool, func(a, b layoutChoices) int { return cmp.Compare(a.ppn, b.ppn) })
	ppns := chunk(pool, func(a, b layoutChoices) bool { return a.ppn == b.ppn })
	for _, layouts := range ppns {
		if _, _, ok := r.mergeSizes(layouts); !ok {
			return nil, price{}, false
		}
	}
	parts, total := partition(len(ppns), func(first, last int) ([]Band, price, bool) {
		return r.mergeSizes(slices.Concat(ppns[first:last]...))
	})
	out := make([]PPNRange, len(parts))
	for i, p := range parts {
		out[i] = PPNRange{Low: ppns[p.first][0].ppn, High: ppns[p.last-1][0].ppn, Bands: p.value}
	}
	return r.fillPPNGaps(out), total, true
}

// mergeSizes returns bands (ranges of message sizes) that are valid for all given layouts, as few as possible.
// It returns false if a layout has rows outside the size range of another one. It also does so if no algorithm
// is allowed for all of them at some size.
func (r reach) mergeSizes(layouts []layoutChoices) ([]Band, price, bool) {
	sizes, low, high, ok := overlay(layouts)
	if !ok {
		return nil, price{}, false
	}
	var open []choice // choices that are allowed for the sizes first to last-1; first decreases by one with each call
	parts, total := partition(len(sizes), func(first, last int) (coll.Algorithm, price, bool) {
		if first == last-1 {
			open = sizes[first].open
		} else {
			open = intersect(open, sizes[first].open)
		}
		if len(open) == 0 {
			return coll.Algorithm{}, price{}, false
		}
		c := cheapest(open)
		return c.alg, price{1, c.loss}, true
	})
	var bands []Band
	if low > 0 && !parts[0].value.IsDefault() {
		bands = append(bands, Band{UpTo: low - 1, Algorithm: coll.Default})
		total.leaves++
	}
	for i, p := range parts {
		if p.last == len(sizes) {
			bands = append(bands, Band{UpTo: high, Algorithm: p.value})
			break
		}
		upTo, next := r.boundary(sizes[p.last-1], sizes[p.last], p.value, parts[i+1].value)
		bands = append(bands, Band{UpTo: upTo, Algorithm: p.value})
		if next > upTo+1 {
			bands = append(bands, Band{UpTo: next - 1, Algorithm: coll.Default})
			total.leaves++
		}
	}
	return bands, total, true
}

// overlay combines several layouts. It returns the choices that all layouts allow at each size, and the range
// of sizes that is tuned for all of them. It returns false if a size is outside this range, or if no choice is
// allowed at it.
func overlay(layouts []layoutChoices) (sizes []sizeChoices, low, high int64, ok bool) {
	low, high = layouts[0].low, layouts[0].high
	var all []sizeChoices
	for _, l := range layouts {
		low, high = max(low, l.low), min(high, l.high)
		all = append(all, l.sizes...)
	}
	slices.SortStableFunc(all, func(a, b sizeChoices) int { return cmp.Compare(a.size, b.size) })
	if all[0].size < low || all[len(all)-1].size > high {
		return nil, 0, 0, false
	}
	for _, same := range chunk(all, func(a, b sizeChoices) bool { return a.size == b.size }) {
		joint := same[0]
		for _, c := range same[1:] {
			joint.open = intersect(joint.open, c.open)
			joint.passing = slices.DeleteFunc(slices.Clone(joint.passing), func(a coll.Algorithm) bool { return !slices.Contains(c.passing, a) })
		}
		if len(joint.open) == 0 {
			return nil, 0, 0, false
		}
		sizes = append(sizes, joint)
	}
	return sizes, low, high, true
}

// cheapest returns the choice with the smallest loss, the library's default of equal ones.
func cheapest(open []choice) choice {
	best := open[0]
	for _, c := range open[1:] {
		if c.loss < best.loss || c.loss == best.loss && c.alg.IsDefault() {
			best = c
		}
	}
	return best
}
