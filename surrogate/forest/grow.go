package forest

import (
	"math"
	"math/rand/v2"
)

// sums are the sums over a set of rows, for example those of a group, a bucket or a node.
type sums struct {
	sum    float64 // of weight times z
	weight uint32  // number of rows, each as often as it was drawn
	rows   uint32  // number of distinct rows
}

func (s *sums) add(o sums) {
	s.sum += o.sum
	s.weight += o.weight
	s.rows += o.rows
}

func (s sums) mean() float64 { return s.sum / float64(s.weight) }

// split is the best split of a node that was found so far. Rows whose rank is at most `a` go left, and rows
// whose rank is at least `b` go right. No row of the node has a rank in between.
type split struct {
	feature  int // -1 for none
	a, b     uint32
	num, den float64 // the cut's score is num/den, larger is better; den > 0
}

// noSplit returns a split that is worse than any valid one.
func noSplit() split { return split{feature: -1, num: math.Inf(-1), den: 1} }

// total holds the sums over a node's rows, from which its splits are scored.
type total struct {
	weight, mean, sum float64
	rows, minLeaf     int
}

// allows reports whether enough rows are on both sides of a split that puts `one` rows on one side.
func (n *total) allows(one uint32) bool { return int(one) >= n.minLeaf && n.rows-int(one) >= n.minLeaf }

// openNode is a node of the growing tree for which it is not yet decided whether it is split.
type openNode struct {
	lo, hi int // its groups are grower.idx[lo:hi]
	node   int32
	depth  int
}

// grower grows one tree.
type grower struct {
	t   *table
	opt Options
	src *rand.PCG

	counts []uint32 // for each row: how often it is in the bootstrap sample
	stats  []sums   // for each group: sums over its rows in the sample
	idx    []uint32 // groups in the sample; the groups of a node are adjacent
	spare  []uint32
	order  []int // features, shuffled at each node
	stack  []openNode
	tree   tree

	buckets buckets
	medians medians
}

func newGrower(t *table, opt Options) *grower {
	g := &grower{
		t: t, opt: opt,
		counts: make([]uint32, t.rows),
		stats:  make([]sums, t.groups),
		idx:    make([]uint32, 0, t.groups),
		spare:  make([]uint32, t.groups),
		order:  make([]int, t.dim),
	}
	widest := 0
	for f := range g.order {
		g.order[f] = f
		widest = max(widest, len(t.values[f]))
	}
	g.buckets.init(widest, t.groups)
	if opt.Criterion == AbsoluteError {
		g.medians.init(t.groups)
	}
	return g
}

// grow grows tree n. A grower can grow only one tree.
func (g *grower) grow(n int) tree {
	g.sample(n)
	g.tree = tree{nodes: make([]node, 1, 2*len(g.idx)), values: make([]float64, 1, 2*len(g.idx))}
	g.stack = append(g.stack, openNode{lo: 0, hi: len(g.idx)})
	for len(g.stack) > 0 {
		p := g.stack[len(g.stack)-1]
		g.stack = g.stack[:len(g.stack)-1]
		s := g.bestSplit(p)
		if s.feature < 0 {
			g.tree.setLeaf(p.node, g.leafValue(g.idx[p.lo:p.hi]))
			continue
		}
		v := g.t.values[s.feature]
		left, depth := int32(len(g.tree.nodes)), p.depth+1
		g.tree.nodes[p.node] = node{threshold: between(v[s.a], v[s.b]), feature: int32(s.feature), left: left}
		g.tree.nodes, g.tree.values = append(g.tree.nodes, node{}, node{}), append(g.tree.values, 0, 0)
		g.tree.depth = max(g.tree.depth, depth)
		mid := g.partition(p.lo, p.hi, g.t.cols[s.feature], s.a)
		g.child(openNode{lo: mid, hi: p.hi, node: left + 1, depth: depth})
		g.child(openNode{lo: p.lo, hi: mid, node: left, depth: depth})
	}
	return g.tree
}

// child adds a node to the tree. It adds a leaf if all rows of the node are equal, otherwise an open node.
func (g *grower) child(p openNode) {
	if p.hi-p.lo == 1 {
		g.tree.setLeaf(p.node, g.leafValue(g.idx[p.lo:p.hi]))
		return
	}
	g.stack = append(g.stack, p)
}

// between returns a threshold t with a <= t < b: the mean of a and b, as in scikit-learn.
func between(a, b float64) float64 {
	if m := a/2 + b/2; a < m && m < b {
		return m
	}
	return a
}

// sample draws the rows of the bootstrap sample of tree n. For each group of rows with equal features, it sums
// the targets of the sampled rows and counts these rows.
func (g *grower) sample(n int) {
	g.src = treeSource(g.opt.Seed, n)
	if g.opt.NoBootstrap {
		for i := range g.counts {
			g.counts[i] = 1
		}
	} else {
		drawCounts(g.src, g.counts)
	}
	z, groupOf := g.t.z, g.t.groupOf
	for i, c := range g.counts {
		if c > 0 {
			g.stats[groupOf[i]].add(sums{z[i] * float64(c), c, 1})
		}
	}
	for c := range g.stats {
		if g.stats[c].rows > 0 {
			g.idx = append(g.idx, uint32(c))
		}
	}
}

// partition reorders the groups idx[lo:hi] so that those whose rank is at most `a` come first. It returns the
// start of the second part. The order within each part stays the same. The loop has no branch that depends on
// the data.
func (g *grower) partition(lo, hi int, col []uint32, a uint32) int {
	groups := g.idx[lo:hi]
	spare := g.spare[:len(groups)]
	l, r := 0, 0
	for _, c := range groups {
		groups[l], spare[r] = c, c
		right := 0
		if col[c] > a {
			right = 1
		}
		l += 1 - right
		r += right
	}
	copy(groups[l:], spare[:r])
	return lo + l
}

// leafValue returns the prediction of a leaf: the mean of its targets, or their median for AbsoluteError.
func (g *grower) leafValue(groups []uint32) float64 {
	if g.opt.Criterion == AbsoluteError {
		return g.t.unscale(g.medians.median(g.t, g.stats, groups))
	}
	return g.t.unscale(g.sumOf(groups).mean())
}

func (g *grower) sumOf(groups []uint32) sums {
	var s sums
	for _, c := range groups {
		s.add(g.stats[c])
	}
	return s
}

// bestSplit returns the best split of a node, or noSplit if the node must be a leaf.
//
// Features are tried in random order, so that no feature is preferred if splits are equally good. A feature
// that is constant in the node counts towards MaxFeatures. But the search continues until some feature
// varies, as in scikit-learn.
func (g *grower) bestSplit(p openNode) split {
	groups := g.idx[p.lo:p.hi]
	best := noSplit()
	if g.opt.MaxDepth > 0 && p.depth >= g.opt.MaxDepth || g.sameMeans(groups) {
		return best
	}
	s := g.sumOf(groups)
	n := total{weight: float64(s.weight), mean: s.mean(), sum: s.sum, rows: int(s.rows), minLeaf: g.opt.MinLeaf}
	if n.rows < g.opt.MinSplit || n.rows < 2*g.opt.MinLeaf {
		return best
	}
	switch {
	case g.opt.Criterion == AbsoluteError:
		g.medians.enter(g.t, groups)
	case len(groups) == 2 && g.opt.Criterion != Poisson:
		return g.splitPair(groups, &n)
	}
	constant := 0
	for k := 0; k < len(g.order) && (k < g.opt.MaxFeatures || k <= constant); k++ {
		if rest := len(g.order) - k; rest > 1 {
			j := k + below(g.src, rest)
			g.order[k], g.order[j] = g.order[j], g.order[k]
		}
		if !g.scan(g.order[k], groups, &n, &best) {
			constant++
		}
	}
	return best
}

// scan searches for splits by feature f. It replaces *best if it finds a better one. It reports whether the
// feature has different values in the node.
func (g *grower) scan(f int, groups []uint32, n *total, best *split) bool {
	col := g.t.cols[f]
	if g.opt.Criterion == AbsoluteError {
		return g.medians.scan(f, col, g.stats, groups, n, best)
	}
	bins := g.buckets.fill(col, g.stats, groups)
	if len(bins) < 2 {
		return false
	}
	if g.opt.Criterion == Poisson {
		scanPoisson(f, bins, n, best)
	} else {
		scanSquares(f, bins, n, best)
	}
	return true
}

// splitPair is a faster version of bestSplit for a node that has two groups and a squared error. A third of
// all nodes are of this kind. Every feature that varies gives the same split, so splitPair draws one of
// these features.
func (g *grower) splitPair(groups []uint32, n *total) split {
	c, d := groups[0], groups[1]
	if !n.allows(g.stats[c].rows) {
		return noSplit()
	}
	varies := 0
	for _, col := range g.t.cols {
		if col[c] != col[d] {
			varies++
		}
	}
	chosen := 0
	if varies > 1 {
		chosen = below(g.src, varies)
	}
	for f, col := range g.t.cols {
		if col[c] == col[d] {
			continue
		}
		if chosen == 0 {
			return split{feature: f, a: min(col[c], col[d]), b: max(col[c], col[d])}
		}
		chosen--
	}
	return noSplit()
}

// sameMeans reports whether all groups of a node have the same mean target, up to rounding errors. If so, no
// split changes a prediction. The loop usually ends at the second group.
func (g *grower) sameMeans(groups []uint32) bool {
	// rounding is 2⁻⁴⁴ of the targets' scale: a few hundred rounding errors of a float64.
	const rounding = 0x1p-44
	first := g.stats[groups[0]]
	for _, c := range groups[1:] {
		s := g.stats[c]
		if w, v := float64(first.weight), float64(s.weight); math.Abs(s.sum*w-first.sum*v) > rounding*w*v {
			return false
		}
	}
	return true
}

// treeSource returns the generator of tree t: first of its bootstrap sample, then of the order of features at each node.
func treeSource(seed uint64, t int) *rand.PCG { return rand.NewPCG(seed, uint64(t)) }

// drawCounts draws the bootstrap sample of a tree. It sets `counts` to the number of times that each row is
// drawn; there are as many draws as rows. A 64-bit random number gives two draws. The bias of the 32-bit
// multiply-shift is at most n/2³², which is below 0.2 % for the largest n.
func drawCounts(src *rand.PCG, counts []uint32) {
	clear(counts)
	n := uint64(len(counts))
	for i := 0; i < len(counts)-1; i += 2 {
		u := src.Uint64()
		counts[(u>>32)*n>>32]++
		counts[(u&0xffffffff)*n>>32]++
	}
	if len(counts)%2 == 1 {
		counts[(src.Uint64()>>32)*n>>32]++
	}
}

// below returns a random number in [0, n) for a small n.
func below(src *rand.PCG, n int) int {
	return int((src.Uint64() >> 32) * uint64(n) >> 32)
}
