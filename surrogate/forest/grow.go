package forest

import "math/rand/v2"

// stat is what cells, buckets and nodes add up.
type stat struct {
	sum float64 // of weight times z
	wn  uint64  // weight in the low 32 bits, number of distinct rows in the high 32
}

func (s stat) weight() float64 { return float64(uint32(s.wn)) }
func (s stat) rows() int       { return int(s.wn >> 32) }

// split is the best cut of a node found so far: ranks up to a go left, ranks from b on go right,
// and no cell of the node lies between.
type split struct {
	feature int
	a, b    uint32
	score   float64 // comparable between features of one node; larger is better
	found   bool
}

// grown is a node of a finished tree. left is 0 in a leaf: node 0 is the root, no one's child.
type grown struct {
	threshold float64
	feature   int32
	left      int32 // the right child is left+1
	value     float64
}

// pending is a node whose cells are known and whose split is not.
type pending struct {
	lo, hi      int // its cells are grower.idx[lo:hi]
	node, depth int32
}

// grower holds one worker's scratch space; it grows one tree at a time.
type grower struct {
	t   *table
	opt Options
	src *rand.PCG

	counts []uint32 // per row: times in the sample
	stats  []stat   // per cell: its rows in the sample
	idx    []uint32 // cells of the sample, ordered so that every node's are neighbours
	spare  []uint32
	order  []int // features, shuffled at each node
	stack  []pending
	nodes  []grown

	buckets buckets
	medians medians
}

func newGrower(t *table, opt Options) *grower {
	g := &grower{
		t: t, opt: opt,
		counts: make([]uint32, t.rows),
		stats:  make([]stat, t.cells),
		idx:    make([]uint32, 0, t.cells),
		spare:  make([]uint32, t.cells),
		order:  make([]int, t.dim),
		nodes:  make([]grown, 0, 2*t.cells),
	}
	widest := 0
	for f := range g.order {
		widest = max(widest, len(t.values[f]))
	}
	g.buckets.init(widest, t.cells)
	if opt.Criterion == AbsoluteError {
		g.medians.init(t.cells)
	}
	return g
}

// grow returns the nodes of tree number n; they are overwritten by the next call.
func (g *grower) grow(n int) []grown {
	g.sample(n)
	for f := range g.order {
		g.order[f] = f
	}
	g.nodes = append(g.nodes[:0], grown{})
	g.stack = append(g.stack[:0], pending{lo: 0, hi: len(g.idx)})
	for len(g.stack) > 0 {
		p := g.stack[len(g.stack)-1]
		g.stack = g.stack[:len(g.stack)-1]
		s := g.bestSplit(p)
		if !s.found {
			g.nodes[p.node].value = g.leafValue(g.idx[p.lo:p.hi])
			continue
		}
		v := g.t.values[s.feature]
		left := int32(len(g.nodes))
		g.nodes[p.node] = grown{threshold: between(v[s.a], v[s.b]), feature: int32(s.feature), left: left}
		g.nodes = append(g.nodes, grown{}, grown{})
		mid := g.partition(p.lo, p.hi, g.t.cols[s.feature], s.a)
		g.stack = append(g.stack,
			pending{lo: mid, hi: p.hi, node: left + 1, depth: p.depth + 1},
			pending{lo: p.lo, hi: mid, node: left, depth: p.depth + 1})
	}
	return g.nodes
}

// between returns a threshold t with a <= t < b: the middle, as scikit-learn has it.
func between(a, b float64) float64 {
	if m := a/2 + b/2; a < m && m < b {
		return m
	}
	return a
}

// sample draws the tree's rows and adds them up in their cells.
func (g *grower) sample(n int) {
	g.src = treeSource(g.opt.Seed, n)
	if g.opt.NoBootstrap {
		for i := range g.counts {
			g.counts[i] = 1
		}
	} else {
		drawCounts(g.src, g.counts)
	}
	clear(g.stats)
	z, cellOf := g.t.z, g.t.cellOf
	for i, c := range g.counts {
		if c > 0 {
			s := &g.stats[cellOf[i]]
			s.sum += z[i] * float64(c)
			s.wn += uint64(c) | 1<<32
		}
	}
	g.idx = g.idx[:0]
	for c := range g.stats {
		if g.stats[c].wn != 0 {
			g.idx = append(g.idx, uint32(c))
		}
	}
}

// partition moves the cells of idx[lo:hi] with rank at most a to the front, keeping the order
// inside both halves, and returns where the second half starts. It has no branch to mispredict.
func (g *grower) partition(lo, hi int, col []uint32, a uint32) int {
	cells := g.idx[lo:hi]
	spare := g.spare[:len(cells)]
	l, r := 0, 0
	for _, c := range cells {
		cells[l], spare[r] = c, c
		right := int((uint64(a) - uint64(col[c])) >> 63)
		l += 1 - right
		r += right
	}
	copy(cells[l:], spare[:r])
	return lo + l
}

// leafValue is the mean or, under AbsoluteError, the median of the leaf's rows.
func (g *grower) leafValue(cells []uint32) float64 {
	if g.opt.Criterion == AbsoluteError {
		return g.t.unscale(g.medians.median(g.t.z, g.stats, cells))
	}
	var s stat
	for _, c := range cells {
		s.sum += g.stats[c].sum
		s.wn += g.stats[c].wn
	}
	return g.t.unscale(s.sum / s.weight())
}

// bestSplit returns the split of a node, or none when the node has to be a leaf.
//
// Features are tried in random order so that ties favour none. A feature that is constant in the
// node counts as tried, but the search goes on until one is not, as in scikit-learn.
func (g *grower) bestSplit(p pending) split {
	cells := g.idx[p.lo:p.hi]
	var best split
	if len(cells) == 1 || (g.opt.MaxDepth > 0 && int(p.depth) >= g.opt.MaxDepth) {
		return best
	}
	total, pure := g.total(cells)
	if pure || total.rows() < g.opt.MinSplit || total.rows() < 2*g.opt.MinLeaf {
		return best
	}
	if g.opt.Criterion == AbsoluteError {
		g.medians.enter(g.t.z, cells)
	}
	constant := 0
	for k := 0; k < len(g.order) && (k < g.opt.MaxFeatures || k <= constant); k++ {
		if rest := len(g.order) - k; rest > 1 {
			j := k + below(g.src, rest)
			g.order[k], g.order[j] = g.order[j], g.order[k]
		}
		f := g.order[k]
		s, varies := g.scan(f, cells, total)
		if !varies {
			constant++
		}
		if s.found && (!best.found || s.score > best.score) {
			best = s
			best.feature = f
		}
	}
	return best
}

// scan returns the best split of a node on one feature, and whether the feature varies there.
func (g *grower) scan(f int, cells []uint32, total stat) (s split, varies bool) {
	col := g.t.cols[f]
	if g.opt.Criterion == AbsoluteError {
		return g.medians.scan(col, g.stats, cells, g.opt.MinLeaf)
	}
	bins := g.buckets.fill(col, len(g.t.values[f]), g.stats, cells)
	if len(bins) < 2 {
		return split{}, false
	}
	if g.opt.Criterion == Poisson {
		return scanPoisson(bins, total, g.opt.MinLeaf), true
	}
	return scanSquares(bins, total, g.opt.MinLeaf), true
}

// total adds up a node and says whether all its cells have one mean, up to rounding: then no
// split changes any prediction.
func (g *grower) total(cells []uint32) (stat, bool) {
	// 2⁻⁴⁴ of the targets' scale: a few hundred roundings of a double.
	const alike = 0x1p-44
	first := g.stats[cells[0]]
	var s stat
	pure := true
	for _, c := range cells {
		st := g.stats[c]
		s.sum += st.sum
		s.wn += st.wn
		if pure {
			w0, w := first.weight(), st.weight()
			d := st.sum*w0 - first.sum*w
			pure = d <= alike*w0*w && -d <= alike*w0*w
		}
	}
	return s, pure
}
