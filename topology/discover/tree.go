package discover

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"tutti/metrics"
	"tutti/topology"
)

// nodes returns one time for each pair of nodes in each pass. It is the shortest round trip of an empty message. The
// times are sorted by node.
func (r Measurements) nodes() []PairTime {
	number := map[string]int{}
	for i, host := range r.Hosts {
		number[host] = i
	}
	all := r.PairsOf(Between)
	slices.SortStableFunc(all, func(p, q Measurement) int {
		return cmp.Or(cmp.Compare(number[p.A.Host], number[q.A.Host]), cmp.Compare(number[p.B.Host], number[q.B.Host]))
	})
	var out []PairTime
	for _, p := range all {
		out = append(out, PairTime{A: p.A.Host, B: p.B.Host, Seconds: p.Small})
	}
	return out
}

// Tree returns the tree of all nodes: the levels of switches between them, and the groups of cores inside
// each node. The gaps of the tree list what was not measured, and where no level was found.
//
// The error matches ErrOutput if there is no node.
func (r Measurements) Tree() (topology.Tree, error) {
	if len(r.Hosts) == 0 {
		return topology.Tree{}, fmt.Errorf("%w: no node", ErrOutput)
	}
	t, err := r.switches()
	if err != nil {
		return topology.Tree{}, err
	}
	inside := map[string]topology.Vertex{}
	for _, host := range r.Hosts {
		node, gaps, err := r.node(host)
		if err != nil {
			return topology.Tree{}, err
		}
		inside[host] = node
		for _, gap := range gaps {
			t.Gaps = append(t.Gaps, fmt.Sprintf("inside %s: %s", host, gap))
		}
	}
	for v := range t.All() {
		if v.Kind == topology.Node {
			*v = inside[v.Name]
		}
	}
	return t, t.Check()
}

// switches returns the tree of switches and nodes. If too few pairs were measured, all nodes are below one
// switch, which has confidence 0.
func (r Measurements) switches() (topology.Tree, error) {
	if len(r.Hosts) == 1 {
		return topology.Tree{Root: topology.Vertex{Kind: topology.Node, Name: r.Hosts[0]}}, nil
	}
	found, members, err := FindPairLevels(r.nodes())
	if err != nil && !errors.Is(err, ErrMatrix) {
		return topology.Tree{}, err
	}
	gap := ""
	lost := slices.DeleteFunc(slices.Clone(r.Hosts), func(host string) bool { return slices.Contains(members, host) })
	switch {
	case err != nil:
		gap = "too few pairs of nodes were measured to find levels: " + err.Error()
		found, members = LevelReport{}, r.Hosts
	case len(lost) > 0:
		gap = fmt.Sprintf("never measured: %q", lost)
	}
	t, err := found.Tree(members)
	if gap != "" {
		t.Gaps = append(t.Gaps, gap)
	}
	return t, err
}

// node returns the tree of one node, with the groups that were found among its ranks. It also returns the
// tree's gaps: what is unknown in it. The node has no children if no pair inside the node was measured.
func (r Measurements) node(host string) (topology.Vertex, []string, error) {
	node := topology.Vertex{Kind: topology.Node, Name: host}
	all := r.PairsOf(Inside)
	slices.SortStableFunc(all, func(p, q Measurement) int {
		return cmp.Or(cmp.Compare(p.A.Rank, q.A.Rank), cmp.Compare(p.B.Rank, q.B.Rank))
	})
	var pairs []PairTime
	for _, p := range all {
		if p.A.Host == host {
			pairs = append(pairs, PairTime{A: p.A.core(), B: p.B.core(), Seconds: p.Small})
		}
	}
	if len(pairs) == 0 {
		return node, nil, nil
	}
	found, members, err := FindPairLevels(pairs)
	if errors.Is(err, ErrMatrix) {
		return node, []string{"too few pairs were measured to find levels"}, nil
	}
	if err != nil {
		return node, nil, err
	}
	inside, err := found.tree(node, topology.Group, topology.Core, members)
	return inside.Root, inside.Gaps, err
}

// core returns the name of the core on which a rank runs, or a name for a rank without a fixed core.
func (p Endpoint) core() string {
	if p.Core < 0 {
		return fmt.Sprintf("rank%d", p.Rank)
	}
	return fmt.Sprintf("core%d", p.Core)
}

// FindPairLevels finds the levels of switches or groups above the members that occur in pairs. It assigns the times
// of each pair alternately to two sets of repetitions. If no pair has a second time, it uses FindLevelsUnconfirmed.
// The members are in the order in which they first occur. Errors refer to them by numbers from 0.
//
// The error matches ErrPair for an invalid pair. It matches ErrMatrix if more than half of a member's pairs are
// missing.
func FindPairLevels(pairs []PairTime) (found LevelReport, members []string, err error) {
	m, err := gather(pairs)
	if err != nil {
		return LevelReport{}, nil, err
	}
	found, err = m.discover()
	return found, m.members, err
}

// PairTree returns the tree of nodes that follows from measured pairs. Errors begin with the name `file`, and
// refer to nodes by numbers from 0, in the order of the file.
func PairTree(pairs []PairTime, file string) (topology.Tree, error) {
	found, nodes, err := FindPairLevels(pairs)
	if err != nil {
		return topology.Tree{}, fmt.Errorf("%s: %w", file, err)
	}
	return found.Tree(nodes)
}

type pairTimes struct {
	members []string
	times   map[[2]int][]float64 // by the indices of the two members, the greater one first; seconds
	most    int                  // largest number of times of one pair
}

func gather(pairs []PairTime) (pairTimes, error) {
	m := pairTimes{times: map[[2]int][]float64{}}
	number := map[string]int{}
	for i, p := range pairs {
		if err := p.Check(); err != nil {
			return pairTimes{}, fmt.Errorf("pair %d: %w", i+1, err)
		}
		for _, n := range []string{p.A, p.B} {
			if _, seen := number[n]; !seen {
				number[n] = len(m.members)
				m.members = append(m.members, n)
			}
		}
		a, b := number[p.A], number[p.B]
		key := [2]int{max(a, b), min(a, b)}
		m.times[key] = append(m.times[key], p.Seconds)
		m.most = max(m.most, len(m.times[key]))
	}
	return m, nil
}

func (m pairTimes) discover() (LevelReport, error) {
	first, err := m.median(0, 2)
	if err != nil {
		return LevelReport{}, err
	}
	if m.most == 1 {
		return FindLevelsUnconfirmed(first)
	}
	second, err := m.median(1, 2)
	if err != nil {
		return LevelReport{}, err
	}
	return FindLevels(first, second)
}

// PairDistances returns the median time of each pair of members, with estimates for pairs that were not
// measured; see Matrix.Fill. The errors are those of FindPairLevels.
func PairDistances(pairs []PairTime) (distances Matrix, members []string, err error) {
	m, err := gather(pairs)
	if err != nil {
		return Matrix{}, nil, err
	}
	if distances, err = m.median(0, 1); err == nil {
		distances, err = filled(distances)
	}
	return distances, m.members, err
}

// median returns, for each pair, the median of a part of its times: of every step-th one, beginning with number
// `from`.
func (m pairTimes) median(from, step int) (Matrix, error) {
	rows := make([][]float64, len(m.members))
	for i := range rows {
		rows[i] = slices.Repeat([]float64{math.NaN()}, i)
	}
	for pair, all := range m.times {
		var own []float64
		for k := from; k < len(all); k += step {
			own = append(own, all[k])
		}
		rows[pair[0]][pair[1]] = metrics.Quantile(own, 0.5)
	}
	return NewMatrix(rows)
}

// Tree returns the tree of nodes and switches that the levels describe. `names` holds the node
// name of each member. Every level becomes a level of switches below one top switch. The tree's gaps describe
// what is unknown, such as members that are unusually far from all others.
//
// It returns an error if two members have the same name.
func (r LevelReport) Tree(names []string) (topology.Tree, error) {
	root := topology.Vertex{Kind: topology.Switch, Name: fmt.Sprintf("%s%d-1", topology.Switch, len(r.Levels))}
	return r.tree(root, topology.Switch, topology.Node, names)
}

// tree returns the tree that the levels describe, below the vertex `root`. It names groups by kind, height
// and number, for example switch0-1.
func (r LevelReport) tree(root topology.Vertex, group, member topology.Kind, names []string) (topology.Tree, error) {
	root.Seconds = r.Seconds
	if len(r.Levels) > 0 {
		root.Confidence = 1
	}
	count := make([]int, len(r.Levels)) // number of named groups, by height
	var below func(members []int, levels []Level) []topology.Vertex
	below = func(members []int, levels []Level) (out []topology.Vertex) {
		if len(levels) == 0 {
			for _, m := range members {
				out = append(out, topology.Vertex{Kind: member, Name: names[m]})
			}
			return out
		}
		l, height := levels[0], len(levels)-1
		groups := make([][]int, l.Labels.Groups())
		for _, m := range members {
			groups[l.Labels[m]] = append(groups[l.Labels[m]], m)
		}
		for _, g := range groups {
			if len(g) > 0 {
				count[height]++
				name := fmt.Sprintf("%s%d-%d", group, height, count[height])
				out = append(out, topology.Vertex{Kind: group, Name: name, Seconds: l.Seconds, Confidence: l.Confidence, Children: below(g, levels[1:])})
			}
		}
		return out
	}
	root.Children = below(allMembers(len(names)), r.Levels)
	t := topology.Tree{Root: root, Gaps: r.gaps(names)}
	return t, t.Check()
}

func (r LevelReport) gaps(names []string) []string {
	var out []string
	if len(r.Levels) == 0 {
		out = append(out, "no clear level")
	}
	for _, groups := range r.Unclear {
		out = append(out, fmt.Sprintf("%d groups are nearer inside than outside, but their distances fit no tree of switches: left out", groups))
	}
	for _, f := range r.Far {
		out = append(out, fmt.Sprintf("%s is %.2g times as far from all others as they are from one another: slow, or alone behind its switch",
			names[f.Member], f.Times))
	}
	return out
}
