package cluster

import (
	"fmt"

	"tutti/topology"
)

// Tree returns the tree that the levels make of nodes with these names, one for each
// member. Every level is one of switches; one more switch holds all, without confidence
// where there is no clear level. What is not clear is among the gaps.
//
// It returns the errors of topology.Build.
func (r Result) Tree(names []string) (topology.Tree, error) {
	root := topology.Vertex{
		Kind:    topology.Switch,
		Name:    fmt.Sprintf("%s%d-1", topology.Switch, len(r.Levels)),
		Seconds: r.Seconds,
	}
	if len(r.Levels) > 0 {
		root.Confidence = 1
	}
	nodes := make([]topology.Vertex, len(names))
	for i, name := range names {
		nodes[i] = topology.Vertex{Kind: topology.Node, Name: name}
	}
	t, err := topology.Build(root, nodes, r.divisions(topology.Switch))
	if err != nil {
		return topology.Tree{}, err
	}
	t.Gaps = r.gaps(names)
	return t, nil
}

// Inside returns the tree of one node that the levels make of its cores with these
// names, one for each member. Every level is one of groups.
//
// It returns the errors of topology.Build.
func (r Result) Inside(node topology.Vertex, names []string) (topology.Tree, error) {
	node.Seconds = r.Seconds
	if len(r.Levels) > 0 {
		node.Confidence = 1
	}
	cores := make([]topology.Vertex, len(names))
	for i, name := range names {
		cores[i] = topology.Vertex{Kind: topology.Core, Name: name}
	}
	t, err := topology.Build(node, cores, r.divisions(topology.Group))
	if err != nil {
		return topology.Tree{}, err
	}
	t.Gaps = r.gaps(names)
	return t, nil
}

func (r Result) divisions(kind topology.Kind) []topology.Division {
	var out []topology.Division
	for _, l := range r.Levels {
		out = append(out, topology.Division{Kind: kind, Groups: l.Labels, Seconds: l.Seconds, Confidence: l.Confidence})
	}
	return out
}

func (r Result) gaps(names []string) []string {
	var out []string
	if len(r.Levels) == 0 {
		out = append(out, "no clear level")
	}
	for _, u := range r.Unclear {
		out = append(out, fmt.Sprintf("%d groups are nearer inside than outside, but see one another as in no tree of switches: left out", u.Groups))
	}
	for _, f := range r.Far {
		out = append(out, fmt.Sprintf("%s is %.2g times as far from all others as they are from one another: slow, or alone behind its switch",
			names[f.Member], f.Times))
	}
	return out
}
