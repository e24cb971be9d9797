package discover

import (
	"math"
	"slices"
)

// divide returns the divisions that the steps of a hierarchy make, finest first: the
// hierarchy cut half-way between two steps, then members, at coarser levels groups,
// moved to where their distances say they belong.
func (h *hierarchy) divide(t logTable, steps []step) []Labels {
	var out []Labels
	fine := Labels(everyone(t.n))
	for i := 1; i < len(steps); i++ {
		near, far := steps[i-1].level, steps[i].level
		e := newAffinity(t, fine, near, far)
		moved := e.settle(majority(h.cut((near+far)/2), fine))
		next := make([]int, t.n)
		for member, item := range fine {
			next[member] = moved[item]
		}
		fine = NewLabels(next)
		out = append(out, fine)
	}
	return out
}

// majority returns the label that most members of each item have.
func majority(labels, items Labels) []int {
	k := labels.Groups()
	out := make([]int, items.Groups())
	most := make([]int, len(out))
	count := map[int]int{} // item and label
	for i, item := range items {
		at := item*k + labels[i]
		count[at]++
		if count[at] > most[item] {
			out[item], most[item] = labels[i], count[at]
		}
	}
	return out
}

// evidence says how much speaks for each two items to be together: what their distances
// lie below the middle between near and far, and against it what they lie above. One
// pair counts as much as near and far lie apart at most.
type affinity struct {
	n            int
	t            logTable
	items        Labels // of members
	middle, most float64
	between      []float64 // n·n when items are groups; nil when they are single members
	one          []float64 // what row returns
	all          []float64 // what sums returns
}

// newAffinity sums up what the members of items say, where items are the groups of
// labels. What groups of one say is not kept.
func newAffinity(t logTable, items Labels, near, far float64) affinity {
	e := affinity{n: items.Groups(), t: t, items: items, middle: (near + far) / 2, most: far - near}
	if e.n == t.n {
		e.one = make([]float64, t.n)
		return e
	}
	e.between = make([]float64, e.n*e.n)
	for i, a := range items {
		row := e.between[a*e.n : (a+1)*e.n]
		for j, x := range t.row(i) {
			row[items[j]] += e.of(x)
		}
	}
	for i := range e.n {
		e.between[i*e.n+i] = 0
	}
	return e
}

// of returns what a distance says.
func (e *affinity) of(x float64) float64 { return max(-e.most, min(e.most, e.middle-x)) }

// row returns what speaks for an item to be with each other one, until the next call.
func (e *affinity) row(i int) []float64 {
	if e.between != nil {
		return e.between[i*e.n : (i+1)*e.n]
	}
	for j, x := range e.t.row(i) {
		e.one[j] = e.of(x)
	}
	e.one[i] = 0
	return e.one
}

// sums returns what speaks for an item to be in each of k groups, until the next call.
func (e *affinity) sums(i int, labels Labels, k int) []float64 {
	e.all = slices.Grow(e.all[:0], k)[:k]
	clear(e.all)
	for j, x := range e.row(i) {
		e.all[labels[j]] += x
	}
	return e.all
}

// nats returns what one unit of evidence says, as the logarithm of the ratio of how likely
// it is within and between groups: their step over the variance of a distance within
// groups, none of which is taken to spread less than a fiftieth of the step.
func (e *affinity) nats(labels Labels) float64 {
	var s sample
	for i, a := range e.items {
		for j, x := range e.t.row(i)[:i] {
			if labels[e.items[j]] == labels[a] {
				s.add(e.of(x))
			}
		}
	}
	deviation := e.most / 4 // of few pairs
	if s.n > 2 {
		deviation = max(math.Sqrt(s.variance()), e.most/50)
	}
	return e.most / (deviation * deviation)
}

// settle moves, joins and swaps until nothing is gained.
func (e *affinity) settle(start []int) Labels {
	const mostRounds = 20
	labels := NewLabels(start)
	for range mostRounds {
		p := newPartition(e, labels)
		moved := p.move()
		joined := p.join()
		swapped := p.swap()
		if labels = NewLabels(p.labels); !moved && !joined && !swapped {
			break
		}
	}
	return labels
}

// suited returns the share of members for whose group most speaks, where anything does,
// or which are alone and for which no group speaks.
func suited(t logTable, labels Labels, near, far float64) float64 {
	e := newAffinity(t, Labels(everyone(t.n)), near, far)
	k, count := labels.Groups(), 0
	for i, own := range labels {
		if sums := e.sums(i, labels, k); sums[own] >= 0 && sums[own] >= slices.Max(sums) {
			count++
		}
	}
	return float64(count) / float64(t.n)
}

// parts is a division of items that is being made better: what speaks for it is the
// evidence within its groups and how equal their sizes are. Machines are mostly made of
// equal parts, so that a group of an unusual size wants more evidence than others.
type partition struct {
	e      *affinity
	nats   float64 // of one unit of evidence
	labels Labels  // may name groups that are empty by now
	size   []int
	usual  int // the size that most items' groups have
	groups int // that are not empty
	odd    int // of them, of another size than the usual one

	// gain has, in nats, what so many groups more, from -1, and so many odd ones more,
	// from -2, gain.
	gain [3][5]float64
}

func newPartition(e *affinity, labels Labels) *partition {
	p := &partition{e: e, nats: e.nats(labels), labels: labels, size: labels.sizes()}
	items := map[int]int{} // by size
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
	p.weigh()
	return p
}

// isOdd returns 1 for a group of another size than the usual one, 0 for others and none.
func (p *partition) isOdd(size int) int {
	if size == 0 || size == p.usual {
		return 0
	}
	return 1
}

// weigh sets gain.
func (p *partition) weigh() {
	now := p.cost(p.groups, p.odd)
	for g := range p.gain {
		for o := range p.gain[g] {
			groups, odd := p.groups+g-1, p.odd+o-2
			if odd < 0 || odd > groups {
				continue // cannot be asked for
			}
			p.gain[g][o] = now - p.cost(groups, odd)
		}
	}
}

// cost returns how unlikely so many groups of unusual sizes are, in nats: any number of
// them is as likely as any other (Laplace's rule), and so is which ones they are and which
// size each has, up to twice the usual one.
func (p *partition) cost(groups, odd int) float64 {
	log := func(n int) float64 { x, _ := math.Lgamma(float64(n) + 1); return x } // of n!
	return math.Log(float64(groups+1)) + log(groups) - log(odd) - log(groups-odd) + float64(odd)*math.Log(2*float64(p.usual))
}

// change returns how many groups and odd ones more there are when two groups get other
// sizes.
func (p *partition) change(from, to [2]int) (groups, odd int) {
	for i := range from {
		groups += min(to[i], 1) - min(from[i], 1)
		odd += p.isOdd(to[i]) - p.isOdd(from[i])
	}
	return groups, odd
}

// gains returns what other sizes of two groups gain, in nats.
func (p *partition) gains(from, to [2]int) float64 {
	groups, odd := p.change(from, to)
	return p.gain[groups+1][odd+2]
}

// resize gives two groups other sizes.
func (p *partition) resize(a, b int, to [2]int) {
	groups, odd := p.change([2]int{p.size[a], p.size[b]}, to)
	p.size[a], p.size[b] = to[0], to[1]
	if p.groups, p.odd = p.groups+groups, p.odd+odd; groups != 0 || odd != 0 {
		p.weigh()
	}
}

// enough is the least gain that counts, in nats: less is rounding.
const enough = 1e-6

// move moves one item after another to the group, or an empty one, where most is gained.
// It reports whether any moved.
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

// join joins the two groups by which most is gained, again and again, and reports whether
// any were.
func (p *partition) join() bool {
	k := len(p.size)
	between := make([]float64, k*k)
	for i, a := range p.labels {
		for g, x := range p.e.sums(i, p.labels, k) {
			between[a*k+g] += x
		}
	}
	group := newSets(k)
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

// swap lets two items of different groups change places where that gains, and reports
// whether any did.
func (p *partition) swap() bool {
	k := len(p.size)
	sums := make([]float64, 0, len(p.labels)*k)
	for i := range p.labels {
		sums = append(sums, p.e.sums(i, p.labels, k)...)
	}
	swapped := false
	for i, a := range p.labels {
		best, at := enough, -1
		row := p.e.row(i)
		for j, b := range p.labels {
			if x := p.nats * (sums[i*k+b] + sums[j*k+a] - sums[i*k+a] - sums[j*k+b] - 2*row[j]); b != a && x > best {
				best, at = x, j
			}
		}
		if at < 0 {
			continue
		}
		b := p.labels[at]
		p.labels[i], p.labels[at] = b, a
		for j, x := range p.e.row(i) {
			sums[j*k+a] -= x
			sums[j*k+b] += x
		}
		for j, x := range p.e.row(at) {
			sums[j*k+a] += x
			sums[j*k+b] -= x
		}
		swapped = true
	}
	return swapped
}
