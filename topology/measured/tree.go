package measured

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"tutti/topology"
	"tutti/topology/cluster"
	"tutti/topology/suspect"
)

// nodes returns what pairs of nodes took, the shortest round trip of empty messages of
// each pass, in the order of the nodes.
func (r Reading) nodes() []suspect.Pair {
	number := map[string]int{}
	for i, host := range r.Hosts {
		number[host] = i
	}
	all := r.Of(Between)
	slices.SortStableFunc(all, func(p, q Pair) int {
		return cmp.Or(cmp.Compare(number[p.A.Host], number[q.A.Host]), cmp.Compare(number[p.B.Host], number[q.B.Host]))
	})
	var out []suspect.Pair
	for _, p := range all {
		out = append(out, suspect.Pair{A: p.A.Host, B: p.B.Host, Seconds: p.Small})
	}
	return out
}

// Tree returns the nodes of a start, the levels of switches between them, and of each
// node what was found inside. What was not measured, and what shows no level, is among
// the gaps.
//
// It returns an error matching ErrReading when there is no node.
func (r Reading) Tree() (topology.Tree, error) {
	if len(r.Hosts) == 0 {
		return topology.Tree{}, fmt.Errorf("%w: no node", ErrReading)
	}
	t, err := r.switches()
	if err != nil {
		return topology.Tree{}, err
	}
	var gaps []string
	for _, host := range r.Hosts {
		node, missing, err := r.node(host)
		if err != nil {
			return topology.Tree{}, err
		}
		for _, gap := range missing {
			gaps = append(gaps, fmt.Sprintf("inside %s: %s", host, gap))
		}
		if len(node.Children) == 0 {
			continue
		}
		if err := t.Graft(node); err != nil {
			return topology.Tree{}, err
		}
	}
	t.Gaps = append(t.Gaps, gaps...)
	return t, nil
}

// switches returns the tree of the nodes. Where too few of their pairs were measured the
// nodes lie below one switch that says nothing.
func (r Reading) switches() (topology.Tree, error) {
	if len(r.Hosts) == 1 {
		return topology.Tree{Root: topology.Vertex{Kind: topology.Node, Name: r.Hosts[0]}}, nil
	}
	found, members, err := Levels(r.nodes())
	if err != nil && !errors.Is(err, cluster.ErrMatrix) {
		return topology.Tree{}, err
	}
	gap := ""
	switch lost := without(r.Hosts, members); {
	case err != nil:
		gap = "too few pairs of nodes were measured to tell levels: " + err.Error()
		found, members = cluster.Result{}, r.Hosts
	case len(lost) > 0:
		gap = fmt.Sprintf("never measured: %q", lost)
	}
	t, err := found.Tree(members)
	if gap != "" {
		t.Gaps = append(t.Gaps, gap)
	}
	return t, err
}

func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(some, s) })
}

// node returns a node with the groups that were found among its ranks; without children
// where nothing was measured in it.
func (r Reading) node(host string) (topology.Vertex, []string, error) {
	node := topology.Vertex{Kind: topology.Node, Name: host}
	all := r.Of(Inside)
	slices.SortStableFunc(all, func(p, q Pair) int { return cmp.Or(cmp.Compare(p.A.Rank, q.A.Rank), cmp.Compare(p.B.Rank, q.B.Rank)) })
	var pairs []suspect.Pair
	for _, p := range all {
		if p.A.Host == host {
			pairs = append(pairs, suspect.Pair{A: p.A.core(), B: p.B.core(), Seconds: p.Small})
		}
	}
	if len(pairs) == 0 {
		return node, nil, nil
	}
	found, members, err := Levels(pairs)
	if errors.Is(err, cluster.ErrMatrix) {
		return node, []string{"too few pairs were measured to tell levels"}, nil
	}
	if err != nil {
		return node, nil, err
	}
	inside, err := found.Inside(node, members)
	return inside.Root, inside.Gaps, err
}

// core is the name of a rank's place in its node.
func (p Place) core() string {
	if p.Core < 0 {
		return fmt.Sprintf("rank%d", p.Rank)
	}
	return fmt.Sprintf("core%d", p.Core)
}
