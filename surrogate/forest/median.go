package forest

import (
	"math/bits"
	"slices"
)

// medians scores splits by absolute error. For this error, rows with equal features cannot be combined into one
// group.
//
// enter sorts the rows of a node by their targets. scan then adds rows in the order of a feature to a Fenwick tree
// over the sorted targets. It does so once from the left end and once from the right end. The error of a split around
// its two medians thus costs only O(log m) for a node of m rows.
type medians struct {
	byZ    []uint32  // the node's rows by target
	place  []uint32  // per row: its place in byZ
	sorted []uint32  // the node's rows by feature
	keys   []uint64  // rank and row, while rows are sorted
	left   []float64 // for each cut: absolute error of the rows to the left of it
	tree   fenwick
}

func (m *medians) init(rows int) {
	m.byZ = make([]uint32, rows)
	m.place = make([]uint32, rows)
	m.sorted = make([]uint32, rows)
	m.keys = make([]uint64, rows)
	m.left = make([]float64, rows)
	m.tree.nodes = make([]sums, rows+1)
}

// enter prepares medians for one node of a tree, whose splits later calls of scan search for.
func (m *medians) enter(t *table, rows []uint32) {
	m.tree.z, m.tree.order = t.z, m.sort(m.byZ, t.targets, rows)
	for k, c := range m.tree.order {
		m.place[c] = uint32(k)
	}
}

// sort sorts rows by rank, and rows of equal rank by index, into the start of the slice `to`, which it returns.
func (m *medians) sort(to, rank, rows []uint32) []uint32 {
	keys := m.keys[:len(rows)]
	for k, c := range rows {
		keys[k] = uint64(rank[c])<<32 | uint64(c)
	}
	slices.Sort(keys)
	for k, key := range keys {
		to[k] = uint32(key)
	}
	return to[:len(rows)]
}

// scan searches for splits of the prepared node by feature f. It replaces *best if it finds a better one. A
// split is scored by the absolute error around the medians of its two sides. scan reports whether the
// feature has different values in the node.
func (m *medians) scan(f int, col []uint32, stats []sums, rows []uint32, n *total, best *split) bool {
	s := m.sort(m.sorted, col, rows)
	last := len(s) - 1
	if col[s[0]] == col[s[last]] {
		return false
	}
	m.tree.reset(len(s))
	for k := range last {
		m.tree.add(m.place[s[k]], stats[s[k]])
		if col[s[k]] != col[s[k+1]] {
			m.left[k] = m.tree.deviation()
		}
	}
	m.tree.reset(len(s))
	cut, score := -1, best.num
	for k := last - 1; k >= 0; k-- {
		m.tree.add(m.place[s[k+1]], stats[s[k+1]])
		if col[s[k]] == col[s[k+1]] || !n.allows(uint32(k+1)) {
			continue
		}
		// The loop runs downwards. If several cuts of a feature are equally good, the last one found has
		// the lowest rank and is taken.
		if e := -(m.left[k] + m.tree.deviation()); e > score || cut >= 0 && e == score {
			cut, score = k, e
		}
	}
	if cut >= 0 {
		*best = split{feature: f, a: col[s[cut]], b: col[s[cut+1]], num: score, den: 1}
	}
	return true
}

// median returns the weighted median of the targets of some rows. If two targets divide the weight exactly
// in half, it returns their mean.
func (m *medians) median(t *table, stats []sums, rows []uint32) float64 {
	byZ, z := m.sort(m.byZ, t.targets, rows), t.z
	var total uint64
	for _, c := range byZ {
		total += uint64(stats[c].weight)
	}
	var below uint64
	for k, c := range byZ {
		below += uint64(stats[c].weight)
		switch {
		case 2*below > total:
			return z[c]
		case 2*below == total:
			return z[c]/2 + z[byZ[k+1]]/2
		}
	}
	panic("forest: median of no rows")
}

// fenwick is a Fenwick tree. It holds prefix sums over the rows of a node, which are ordered by target.
//
// Source: Fenwick, A new data structure for cumulative frequency tables (1994).
type fenwick struct {
	nodes []sums // nodes[k] sums the k&-k places that end at place k-1
	n     int
	all   sums
	z     []float64
	order []uint32 // rows by target
}

func (f *fenwick) reset(n int) {
	f.n, f.all = n, sums{}
	clear(f.nodes[:n+1])
}

func (f *fenwick) add(place uint32, s sums) {
	f.all.add(s)
	for k := int(place) + 1; k <= f.n; k += k & -k {
		f.nodes[k].add(s)
	}
}

// deviation returns the weighted sum of the absolute differences between the targets of all added rows and
// their median.
func (f *fenwick) deviation() float64 {
	half := float64(f.all.weight) / 2
	var below sums
	k := 0
	for step := 1 << (bits.Len(uint(f.n)) - 1); step > 0; step >>= 1 {
		if j := k + step; j <= f.n && float64(below.weight+f.nodes[j].weight) < half {
			k = j
			below.add(f.nodes[j])
		}
	}
	mid := f.z[f.order[k]]
	w := float64(below.weight)
	return (mid*w - below.sum) + (f.all.sum - below.sum) - mid*(float64(f.all.weight)-w)
}
