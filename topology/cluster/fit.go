package cluster

import "math"

// How much of what repeats may be no tree, relative to the step of the level.
const (
	mostRows  = 0.1       // how members of one group see another group
	mostPairs = 1.0 / 3.0 // single distances between two groups
)

// fitting returns the divisions that a tree can have, and the others: in a tree of
// switches the members of a group see every other group alike. What differs between
// them and repeats from one half of the measurements to the other is no noise.
func (d *detector) fitting(divisions []Labels) (clear []Labels, unclear []Unclear) {
	samples := byLevel(d.mean, divisions)
	for i, labels := range divisions {
		rise := samples[i+1].mean() - samples[i].mean()
		rows, pairs := d.misfit(labels)
		u := Unclear{Groups: labels.Groups(), Rows: rows / rise, Pairs: pairs / rise}
		if u.Rows > mostRows || u.Pairs > mostPairs {
			unclear = append(unclear, u)
		} else {
			clear = append(clear, labels)
		}
	}
	return clear, unclear
}

// misfit returns the standard deviations of what repeats between groups: of how far a
// member is from another group, beyond what the two groups and the member itself
// explain, and of single distances, beyond what the two groups explain.
func (d *detector) misfit(labels Labels) (rows, pairs float64) {
	a, b := newBlocks(d.halves[0], labels), newBlocks(d.halves[1], labels)
	k := len(a.size)
	var row, pair sample
	for i, own := range labels {
		for g := range k {
			if g != own && a.size[own] > 1 {
				row.add(a.row(i, g) * b.row(i, g))
			}
		}
		for j, g := range labels {
			if g != own {
				pair.add(a.pair(i, j) * b.pair(i, j))
			}
		}
	}
	if k > 2 && row.n > 0 {
		rows = math.Sqrt(max(row.mean(), 0))
	}
	return rows, math.Sqrt(max(pair.mean(), 0))
}

// blocks holds the mean distances between groups, and between members and groups.
type blocks struct {
	t      table
	labels Labels
	size   []int
	group  []float64 // k·k: between two groups
	member []float64 // n·k: between a member and a group
	own    []float64 // of each member, how much farther it is from other groups than its group
}

func newBlocks(t table, labels Labels) blocks {
	b := blocks{t: t, labels: labels, size: labels.sizes()}
	k := len(b.size)
	b.group, b.member, b.own = make([]float64, k*k), make([]float64, t.n*k), make([]float64, t.n)
	for i, own := range labels {
		sums := b.member[i*k : (i+1)*k]
		for j, x := range t.row(i) {
			sums[labels[j]] += x
		}
		for g := range sums {
			b.group[own*k+g] += sums[g] / float64(b.size[own]*b.size[g])
			sums[g] /= float64(b.size[g])
		}
	}
	for i, own := range labels {
		for g := range k {
			if g != own {
				b.own[i] += (b.member[i*k+g] - b.group[own*k+g]) / float64(max(k-1, 1))
			}
		}
	}
	return b
}

// row returns how far a member is from a group, beyond what is expected.
func (b *blocks) row(i, g int) float64 {
	k := len(b.size)
	return b.member[i*k+g] - b.group[b.labels[i]*k+g] - b.own[i]
}

// pair returns how far two members are apart, beyond what their groups explain.
func (b *blocks) pair(i, j int) float64 {
	return b.t.row(i)[j] - b.group[b.labels[i]*len(b.size)+b.labels[j]]
}
