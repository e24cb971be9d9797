package discover

import (
	"math"
	"slices"
)

// divisions returns one division of the members into groups for each pair of successive steps, from the finest to the
// coarsest. A step is a typical distance. Each division first cuts the hierarchy midway between its two steps. Then
// it moves each member, or each group of the finer division, to the group that its distances fit best.
func (h *hierarchy) divisions(t Matrix, steps []step) []Labels {
	var out []Labels
	fine := Labels(allMembers(t.n))
	for i := 1; i < len(steps); i++ {
		near, far := steps[i-1].level, steps[i].level
		e := newAffinity(t, fine, near, far)
		cut := h.divide(func(merge int) bool { return h.height[merge] > (near+far)/2 })
		moved := e.improve(majority(cut, fine))
		next := make([]int, t.n)
		for member, item := range fine {
			next[member] = moved[item]
		}
		fine = NewLabels(next)
		out = append(out, fine)
	}
	return out
}

// majority returns, for each item, the most frequent label among its members.
func majority(labels, items Labels) []int {
	k := labels.Groups()
	out := make([]int, items.Groups())
	most := make([]int, len(out))
	count := map[int]int{} // by item·k + label
	for i, item := range items {
		at := item*k + labels[i]
		count[at]++
		if count[at] > most[item] {
			out[item], most[item] = labels[i], count[at]
		}
	}
	return out
}

// affinity holds the evidence that two items belong to the same group. Items are single members or groups of a
// finer division. The distances within groups are about `near`, those between groups about `far`. A pair of
// members is evidence for a common group if its distance is below the mean of these two numbers, otherwise against
// it. The amount is the difference from that mean, but at most far - near.
type affinity struct {
	n            int
	t            Matrix
	items        Labels // item of each member
	middle, most float64
	between      []float64 // n·n evidence when items are groups; nil when items are members
	one          []float64 // buffer of row
	all          []float64 // buffer of sums
}

// newAffinity returns, for each pair of items, the evidence that both belong to the same group. It is the sum
// over all pairs of their members. `items` has the item of each member.
func newAffinity(t Matrix, items Labels, near, far float64) affinity {
	e := affinity{n: items.Groups(), t: t, items: items, middle: (near + far) / 2, most: far - near}
	if e.n == t.n {
		e.one = make([]float64, t.n)
		return e
	}
	e.between = make([]float64, e.n*e.n)
	for i, a := range items {
		row := e.between[a*e.n : (a+1)*e.n]
		for j, x := range t.Row(i) {
			row[items[j]] += e.of(x)
		}
	}
	for i := range e.n {
		e.between[i*e.n+i] = 0
	}
	return e
}

func (e *affinity) of(x float64) float64 { return max(-e.most, min(e.most, e.middle-x)) }

// row returns, for each item, the evidence that it belongs to the same group as item i. The next call overwrites
// the result.
func (e *affinity) row(i int) []float64 {
	if e.between != nil {
		return e.between[i*e.n : (i+1)*e.n]
	}
	for j, x := range e.t.Row(i) {
		e.one[j] = e.of(x)
	}
	e.one[i] = 0
	return e.one
}

// sums returns the evidence that item i belongs to each of the k groups. The next call overwrites the
// result.
func (e *affinity) sums(i int, labels Labels, k int) []float64 {
	e.all = slices.Grow(e.all[:0], k)[:k]
	clear(e.all)
	for j, x := range e.row(i) {
		e.all[labels[j]] += x
	}
	return e.all
}

// nats returns the log likelihood ratio, in nats, for one unit of evidence: the difference far - near divided
// by the variance of the evidence within groups. The standard deviation counts as at least a fiftieth of this
// difference.
func (e *affinity) nats(labels Labels) float64 {
	var s sample
	for i, a := range e.items {
		for j, x := range e.t.Row(i)[:i] {
			if labels[e.items[j]] == labels[a] {
				s.add(e.of(x))
			}
		}
	}
	deviation := e.most / 4 // default for few pairs
	if s.n > 2 {
		deviation = max(math.Sqrt(s.variance()), e.most/50)
	}
	return e.most / (deviation * deviation)
}

// improve improves a division of items into groups. It moves items and joins groups until no such change is
// better, or mostRounds times.
func (e *affinity) improve(start []int) Labels {
	const mostRounds = 20
	labels := NewLabels(start)
	for range mostRounds {
		p := newPartition(e, labels)
		moved := p.move()
		joined := p.join()
		if labels = NewLabels(p.labels); !moved && !joined {
			break
		}
	}
	return labels
}

// supportedShare returns the fraction of the members that fit into their own group: the evidence for this
// group is at least 0 and at least as great as for any other group.
func supportedShare(t Matrix, labels Labels, near, far float64) float64 {
	e := newAffinity(t, Labels(allMembers(t.n)), near, far)
	k, count := labels.Groups(), 0
	for i, own := range labels {
		if sums := e.sums(i, labels, k); sums[own] >= 0 && sums[own] >= slices.Max(sums) {
			count++
		}
	}
	return float64(count) / float64(t.n)
}

// partition is a division of items that is improved step by step. Its score is the evidence within groups, minus a
// penalty for groups of unusual size. Machines mostly consist of equal parts, so a group of unusual size
// needs stronger evidence.
type partition struct {
	e      *affinity
	nats   float64 // log likelihood ratio of one unit of evidence
	labels Labels  // group of each item; a group may be empty
	size   []int
	usual  int // the size of most items' groups
	groups int // number of groups that are not empty
	odd    int // number of groups that have an unusual size

	logs []float64 // logarithms of factorials, from 0! on
}

func newPartition(e *affinity, labels Labels) *partition {
	p := &partition{e: e, nats: e.nats(labels), labels: labels, size: labels.sizes()}
	items := map[int]int{} // number of items by size of their group
	for _, n := range p.size {
		items[n] += n
		if items[n] > items[p.usual] || items[n] == items[p.usual] && n > p.usual {
			p.usual = n
		}
	}
	for _, n := range p.size {
		p.groups += min(n, 1)
		p.odd += p.isOdd(n)
	}
	for n := range len(labels) + 1 {
		x, _ := math.Lgamma(float64(n) + 1)
		p.logs = append(p.logs, x)
	}
	return p
}

// isOdd returns 1 for a group of unusual size. It returns 0 for a group of usual size and for an empty one.
func (p *partition) isOdd(size int) int {
	if size == 0 || size == p.usual {
		return 0
	}
	return 1
}

// cost returns the penalty, in nats, for a division into groups of which `odd` have an unusual size. The prior
// gives the same probability to each number of such groups (Laplace's rule of succession). The same holds for
// each selection of them, and for each size up to twice the usual one.
func (p *partition) cost(groups, odd int) float64 {
	return math.Log(float64(groups+1)) + p.logs[groups] - p.logs[odd] - p.logs[groups-odd] + float64(odd)*math.Log(2*float64(p.usual))
}

// change returns by how much the number of groups and the number of groups of unusual size grow if two groups
// get new sizes.
func (p *partition) change(from, to [2]int) (groups, odd int) {
	for i := range from {
		groups += min(to[i], 1) - min(from[i], 1)
		odd += p.isOdd(to[i]) - p.isOdd(from[i])
	}
	return groups, odd
}

func (p *partition) gains(from, to [2]int) float64 {
	groups, odd := p.change(from, to)
	return p.cost(p.groups, p.odd) - p.cost(p.groups+groups, p.odd+odd)
}

func (p *partition) resize(a, b int, to [2]int) {
	groups, odd := p.change([2]int{p.size[a], p.size[b]}, to)
	p.size[a], p.size[b] = to[0], to[1]
	p.groups, p.odd = p.groups+groups, p.odd+odd
}

// enough is the smallest increase of a partition's score that counts, in nats. Smaller increases are rounding
// errors.
const enough = 1e-6

// move moves each item to the group for which the score grows most. This may be an empty group. It reports whether
// any item moved.
func (p *partition) move() bool {
	moved := false
	for i, own := range p.labels {
		if p.size[len(p.size)-1] > 0 {
			p.size = append(p.size, 0)
		}
		sums := p.e.sums(i, p.labels, len(p.size))
		best, at := enough, own
		for g, n := range p.size {
			if g == own || n == 0 && p.size[own] == 1 {
				continue
			}
			if x := p.nats*(sums[g]-sums[own]) + p.gains([2]int{p.size[own], n}, [2]int{p.size[own] - 1, n + 1}); x > best {
				best, at = x, g
			}
		}
		if at != own {
			p.resize(own, at, [2]int{p.size[own] - 1, p.size[at] + 1})
			p.labels[i] = at
			moved = true
		}
	}
	return moved
}

// join repeatedly joins the two groups whose union increases the score most. It reports whether any groups were
// joined.
func (p *partition) join() bool {
	k := len(p.size)
	between := make([]float64, k*k)
	for i, a := range p.labels {
		for g, x := range p.e.sums(i, p.labels, k) {
			between[a*k+g] += x
		}
	}
	group := unionFind(allMembers(k))
	joined := false
	for {
		best, a, b := enough, -1, -1
		for g := range k {
			for o := range g {
				if p.size[g] == 0 || p.size[o] == 0 {
					continue
				}
				if x := p.nats*between[g*k+o] + p.gains([2]int{p.size[o], p.size[g]}, [2]int{p.size[o] + p.size[g], 0}); x > best {
					best, a, b = x, o, g
				}
			}
		}
		if a < 0 {
			break
		}
		joined = true
		p.resize(a, b, [2]int{p.size[a] + p.size[b], 0})
		group.join(a, b)
		for o := range k {
			between[a*k+o] += between[b*k+o]
			between[o*k+a] += between[o*k+b]
		}
	}
	for i, g := range p.labels {
		p.labels[i] = group.find(g)
	}
	return joined
}
