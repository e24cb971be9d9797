package clustering

import (
	"fmt"

	"tutti/topology/cluster"
)

// mostDepth bounds the tree of SSSTree.
const mostDepth = 8

// SSSTree divides the members by sparse spatial selection, each group again and again:
// a member of a group becomes the centre of a new one when it is alpha times twice the
// group's radius or more from the centres so far, else it joins the nearest. The first
// member is the first centre. It returns the division at each depth, coarsest first,
// until nothing changes or there are more groups than half the members.
//
// It returns an error matching ErrMatrix when a pair is missing, and another when alpha
// is not above 0.
//
// Source: Brisaboa et al., SOFSEM 2008, as written in Reinfjell, Automatic Detection of
// Interconnect Topologies (NTNU 2023), figure 2.5.
func SSSTree(m cluster.Matrix, alpha float64) ([]cluster.Labels, error) {
	if err := m.CheckComplete(); err != nil {
		return nil, err
	}
	if !(alpha > 0) {
		return nil, fmt.Errorf("alpha %g: want more than 0", alpha)
	}
	all := make([]int, m.Len())
	for i := range all {
		all[i] = i
	}
	groups := [][]int{all}
	var out []cluster.Labels
	for range mostDepth {
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
		out = append(out, cluster.NewLabels(raw))
		if len(next) == len(groups) || len(next) > m.Len()/2 {
			break
		}
		groups = next
	}
	return out, nil
}

// selectCentres divides one group; the first of each new one is its centre.
func selectCentres(m cluster.Matrix, group []int, alpha float64) [][]int {
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
