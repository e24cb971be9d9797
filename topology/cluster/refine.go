package cluster

import (
	"math"
	"slices"
)

// divide returns the divisions that the steps of a hierarchy make, finest first: the
// hierarchy cut half-way between two steps, then members, at coarser levels groups,
// moved to where their distances say they belong.
func (h *hierarchy) divide(t table, steps []step) []Labels {
	var out []Labels
	fine := Labels(everyone(t.n))
	for i := 1; i < len(steps); i++ {
		near, far := steps[i-1].level, steps[i].level
		e := newEvidence(t, fine, near, far)
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
type evidence struct {
	n            int
	t            table
	items        Labels // of members
	middle, most float64
	between      []float64 // n·n when items are groups; nil when they are single members
	one          []float64 // what row returns
	all          []float64 // what sums returns
}

// newEvidence sums up what the members of items say, where items are the groups of
// labels. What groups of one say is not kept.
func newEvidence(t table, items Labels, near, far float64) evidence {
	e := evidence{n: items.Groups(), t: t, items: items, middle: (near + far) / 2, most: far - near}
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
func (e *evidence) of(x float64) float64 { return max(-e.most, min(e.most, e.middle-x)) }

// row returns what speaks for an item to be with each other one, until the next call.
func (e *evidence) row(i int) []float64 {
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
func (e *evidence) sums(i int, labels Labels, k int) []float64 {
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
func (e *evidence) nats(labels Labels) float64 {
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
func (e *evidence) settle(start []int) Labels {
	const mostRounds = 20
	labels := NewLabels(start)
	for range mostRounds {
		p := newParts(e, labels)
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
func suited(t table, labels Labels, near, far float64) float64 {
	e := newEvidence(t, Labels(everyone(t.n)), near, far)
	k, count := labels.Groups(), 0
	for i, own := range labels {
		if sums := e.sums(i, labels, k); sums[own] >= 0 && sums[own] >= slices.Max(sums) {
			count++
		}
	}
	return float64(count) / float64(t.n)
}
