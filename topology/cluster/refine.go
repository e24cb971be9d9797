package cluster

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
		fine = numbered(next)
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
	middle, most float64
	sums         []float64 // n·n when items are groups; nil when they are single members
	scratch      []float64
}

// newEvidence sums up what the members of items say, where items are the groups of
// labels. The sums of groups of one are not kept.
func newEvidence(t table, items Labels, near, far float64) evidence {
	e := evidence{n: items.Groups(), t: t, middle: (near + far) / 2, most: far - near}
	if e.n == t.n {
		e.scratch = make([]float64, t.n)
		return e
	}
	e.sums = make([]float64, e.n*e.n)
	for i, a := range items {
		sums := e.sums[a*e.n : (a+1)*e.n]
		for j, x := range t.row(i) {
			sums[items[j]] += e.of(x)
		}
	}
	for i := range e.n {
		e.sums[i*e.n+i] = 0
	}
	return e
}

// of returns what a distance says.
func (e *evidence) of(x float64) float64 { return max(-e.most, min(e.most, e.middle-x)) }

// row returns what speaks for an item to be with each other one, until the next call.
func (e *evidence) row(i int) []float64 {
	if e.sums != nil {
		return e.sums[i*e.n : (i+1)*e.n]
	}
	for j, x := range e.t.row(i) {
		e.scratch[j] = e.of(x)
	}
	e.scratch[i] = 0
	return e.scratch
}

// settle moves items, each to the group that most speaks for or to one of its own when
// everything speaks against all others, and then joins groups that belong together.
func (e *evidence) settle(start []int) Labels {
	const mostRounds = 20
	labels := numbered(start)
	for range mostRounds {
		moves := e.moves(labels)
		if len(moves) == 0 {
			break
		}
		apply(labels, moves)
		labels = numbered(labels)
	}
	return e.joined(labels)
}

// move is an item that another group suits better; to is Noise for one of its own.
type move struct {
	item, to int
	gain     float64
}

func (e *evidence) moves(labels Labels) []move {
	var out []move
	size := labels.sizes()
	sums := make([]float64, len(size))
	for i, own := range labels {
		clear(sums)
		for j, x := range e.row(i) {
			sums[labels[j]] += x
		}
		m := move{item: i, to: Noise}
		best := 0.0
		for g, sum := range sums {
			if sum > best {
				m.to, best = g, sum
			}
		}
		m.gain = best - sums[own]
		if m.to == own || m.gain <= 1e-9 || m.to == Noise && size[own] == 1 {
			continue
		}
		out = append(out, m)
	}
	return out
}

// apply makes the moves, all at once.
func apply(labels Labels, moves []move) {
	fresh := labels.Groups()
	for _, m := range moves {
		to := m.to
		if to == Noise {
			to = fresh
			fresh++
		}
		labels[m.item] = to
	}
}

// joined joins the two groups for which most speaks, again and again.
func (e *evidence) joined(labels Labels) Labels {
	k := labels.Groups()
	between := make([]float64, k*k)
	for i, a := range labels {
		for j, x := range e.row(i) {
			between[a*k+labels[j]] += x
		}
	}
	group := newSets(k)
	for {
		best, a, b := 0.0, -1, -1
		for g := range k {
			for o := range g {
				if x := between[g*k+o]; x > best {
					best, a, b = x, o, g
				}
			}
		}
		if a < 0 {
			break
		}
		group.join(a, b)
		for o := range k {
			between[a*k+o] += between[b*k+o]
			between[o*k+a] += between[o*k+b]
			between[b*k+o], between[o*k+b] = 0, 0
		}
	}
	raw := make([]int, len(labels))
	for i, g := range labels {
		raw[i] = group.find(g)
	}
	return numbered(raw)
}

// suited returns the share of members for whose group most speaks, where anything does,
// or which are alone and for which no group speaks.
func suited(t table, labels Labels, near, far float64) float64 {
	e := newEvidence(t, Labels(everyone(t.n)), near, far)
	return 1 - float64(len(e.moves(labels)))/float64(t.n)
}
