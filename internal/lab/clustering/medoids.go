package clustering

import (
	"math"
	"slices"

	"tutti/topology/discover"
)

// KMedoids divides the members into k groups, each around one of its members, the medoid. It replaces one
// medoid at a time until no replacement lowers the cost, the sum of the distances to the medoids in seconds. It
// takes O(k·n²) time for the initial medoids and for each replacement.
//
// Source: Kaufman and Rousseeuw, Finding Groups in Data (1990), chapter 2 (PAM).
func KMedoids(m discover.Matrix, k int) (labels discover.Labels, cost float64) {
	p := pam{m: m, medoid: make([]bool, m.Len())}
	p.build(k)
	for k > 1 && p.replace() {
	}
	return discover.NewLabels(p.near), p.cost()
}

// pam is the state of KMedoids.
type pam struct {
	m       discover.Matrix
	medoids []int
	medoid  []bool    // whether each member is a medoid
	near    []int     // the nearest medoid of each member, as an index into medoids
	d1, d2  []float64 // distances of each member to its nearest and second nearest medoid
}

// build chooses the initial k medoids one after another. Each is the member that lowers the cost most.
func (p *pam) build(k int) {
	p.d1 = slices.Repeat([]float64{math.Inf(1)}, p.m.Len())
	for range k {
		best, at := math.Inf(1), -1
		for h := range p.m.Len() {
			if p.medoid[h] {
				continue
			}
			cost := 0.0
			for j, x := range p.m.Row(h) {
				cost += min(x, p.d1[j])
			}
			if cost < best {
				best, at = cost, h
			}
		}
		p.medoids = append(p.medoids, at)
		p.medoid[at] = true
		for j, x := range p.m.Row(at) {
			p.d1[j] = min(x, p.d1[j])
		}
	}
	p.assign()
}

func (p *pam) assign() {
	n := p.m.Len()
	p.near, p.d1, p.d2 = make([]int, n), make([]float64, n), make([]float64, n)
	for j := range n {
		p.d1[j], p.d2[j] = math.Inf(1), math.Inf(1)
		for i, med := range p.medoids {
			switch x := p.m.At(j, med); {
			case x < p.d1[j]:
				p.near[j], p.d1[j], p.d2[j] = i, x, p.d1[j]
			case x < p.d2[j]:
				p.d2[j] = x
			}
		}
	}
}

// replace replaces a medoid by another member so that the cost falls most. It returns false if no
// replacement lowers the cost.
func (p *pam) replace() bool {
	best, out, in := (1-1e-12)*p.cost(), -1, -1
	for h := range p.m.Len() {
		for i := range p.medoids {
			if p.medoid[h] {
				continue
			}
			cost := 0.0
			for j, x := range p.m.Row(h) {
				other := p.d1[j] // distance to the nearest other medoid
				if p.near[j] == i {
					other = p.d2[j]
				}
				cost += min(x, other)
			}
			if cost < best {
				best, out, in = cost, i, h
			}
		}
	}
	if out < 0 {
		return false
	}
	p.medoid[p.medoids[out]], p.medoid[in] = false, true
	p.medoids[out] = in
	p.assign()
	return true
}

func (p *pam) cost() float64 {
	sum := 0.0
	for _, x := range p.d1 {
		sum += x
	}
	return sum
}

// maxDepth limits how often SSSTree divides groups into smaller groups.
const maxDepth = 8

// SSSTree divides the members recursively by sparse spatial selection. The first member of a group is a centre.
// Another member becomes a centre if its distance from all centres is at least `alpha` times twice the group's
// radius. Otherwise it joins the nearest centre. SSSTree returns the division at each depth, the coarsest first. It
// stops when the number of groups stays the same or exceeds half the number of members.
//
// Source: Brisaboa et al., SOFSEM 2008, as written in Reinfjell, Automatic Detection of Interconnect
// Topologies (NTNU 2023), figure 2.5.
func SSSTree(m discover.Matrix, alpha float64) []discover.Labels {
	all := make([]int, m.Len())
	for i := range all {
		all[i] = i
	}
	groups := [][]int{all}
	var out []discover.Labels
	for range maxDepth {
		var next [][]int
		for _, g := range groups {
			next = append(next, selectCentres(m, g, alpha)...)
		}
		raw := make([]int, m.Len())
		for i, g := range next {
			for _, member := range g {
				raw[member] = i
			}
		}
		out = append(out, discover.NewLabels(raw))
		if len(next) == len(groups) || len(next) > m.Len()/2 {
			break
		}
		groups = next
	}
	return out
}

// selectCentres divides one group. The first member of each new group is its centre.
func selectCentres(m discover.Matrix, group []int, alpha float64) [][]int {
	radius := 0.0
	for _, member := range group {
		radius = max(radius, m.At(group[0], member))
	}
	out := [][]int{{group[0]}}
	for _, member := range group[1:] {
		at := 0
		for i, g := range out {
			if m.At(g[0], member) < m.At(out[at][0], member) {
				at = i
			}
		}
		if m.At(out[at][0], member) >= 2*radius*alpha {
			out = append(out, []int{member})
		} else {
			out[at] = append(out[at], member)
		}
	}
	return out
}
