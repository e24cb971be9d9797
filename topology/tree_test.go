package topology_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/topology"
)

// sw returns a switch with confidence 1.
func sw(name string, seconds float64, children ...topology.Vertex) topology.Vertex {
	return topology.Vertex{Kind: topology.Switch, Name: name, Seconds: seconds, Confidence: 1, Children: children}
}

func node(name string, children ...topology.Vertex) topology.Vertex {
	return topology.Vertex{Kind: topology.Node, Name: name, Children: children}
}

func nodes(list string) []topology.Vertex {
	names, err := topology.Hosts(list)
	if err != nil {
		panic(err)
	}
	var out []topology.Vertex
	for _, n := range names {
		out = append(out, node(n))
	}
	return out
}

func core(name string) topology.Vertex {
	return topology.Vertex{Kind: topology.Core, Name: name}
}

// pods returns a tree of two pods of two leaf switches of two nodes.
func pods() topology.Tree {
	return topology.Tree{Root: sw("top", 3e-6,
		sw("pod1", 2.5e-6, sw("leaf1", 2e-6, nodes("n[1-2]")...), sw("leaf2", 2e-6, nodes("n[3-4]")...)),
		sw("pod2", 2.5e-6, sw("leaf3", 2e-6, nodes("n[5-6]")...), sw("leaf4", 2e-6, nodes("n[7-8]")...)),
	)}
}

func TestCheck(t *testing.T) {
	tests := []struct {
		name string
		root topology.Vertex
		want string // part of the error; empty for no error
	}{
		{name: "pods", root: pods().Root},
		{name: "a node alone", root: node("n1", core("core0"))},
		{name: "nothing but a root without a name", root: sw("", 0, nodes("n1")...)},
		{name: "two nodes of one name", root: sw("s", 0, node("n1"), node("n1")), want: "node n1 is there twice"},
		{name: "two switches of one name", root: sw("s", 0, sw("s", 0, node("n1"))), want: "switch s is there twice"},
		{name: "cores of one name in two nodes", root: sw("s", 0, node("a", core("core0")), node("b", core("core0")))},
		{name: "no kind", root: topology.Vertex{Name: "x"}, want: `kind "": want one of`},
		{name: "no name below the root", root: sw("s", 0, node("")), want: "has no name"},
		{name: "node below a node", root: node("a", node("b")), want: "node b: lies below node a: want a switch"},
		{name: "core below a switch", root: sw("s", 0, core("c")), want: "core c: lies below a switch: want a node"},
		{name: "empty switch", root: sw("s", 0), want: "switch s: has nothing below it"},
		{name: "negative time", root: sw("s", -1, node("a")), want: "-1 seconds"},
		{name: "time that is none", root: sw("s", math.NaN(), node("a")), want: "NaN seconds"},
		{name: "confidence", root: topology.Vertex{Kind: topology.Node, Name: "a", Confidence: 1.5}, want: "confidence 1.5"},
	}
	for _, tc := range tests {
		tree := topology.Tree{Root: tc.root}
		err := tree.Check()
		if tc.want == "" && err != nil || tc.want != "" && (!errors.Is(err, topology.ErrTree) || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: Check() = %v, want %q", tc.name, err, tc.want)
		}
	}
}

func TestNodesAndSwitches(t *testing.T) {
	tree := pods()
	if got := topology.HostList(tree.Nodes()); got != "n[1-8]" {
		t.Errorf("Nodes() = %s", got)
	}
	want := [][]string{{"n1", "n2"}, {"n3", "n4"}, {"n5", "n6"}, {"n7", "n8"}}
	if d := cmp.Diff(want, tree.Switches()); d != "" {
		t.Errorf("Switches() (-want +got):\n%s", d)
	}
	for v, parent := range tree.All() {
		if v.Kind == topology.Node {
			break // checks that All supports an early break
		}
		if parent == nil && v.Height() != 2 {
			t.Errorf("height of the root %d, want 2", v.Height())
		}
	}
}

func TestLevels(t *testing.T) {
	tree := pods()
	tree.Root.Children[1].Children[1].Children = nodes("n7")
	tree.Root.Children[0].Children[0].Children[0].Children = []topology.Vertex{
		{Kind: topology.Socket, Name: "socket0", Seconds: 8e-7, Confidence: 0.5, Children: []topology.Vertex{core("core0"), core("core1")}},
	}
	var got []string
	for _, l := range tree.Levels() {
		got = append(got, l.String())
	}
	want := []string{
		"1 switch of 7 nodes, 3 µs",
		"2 switches of 3 to 4 nodes, 2.5 µs",
		"4 switches of 1 to 2 nodes, 2 µs",
		"1 node of 2 places",
		"1 socket of 2 places, 0.8 µs",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Levels() (-want +got):\n%s", d)
	}
	if c := tree.Levels()[4].Confidence; c != 0.5 {
		t.Errorf("confidence of the socket %g, want 0.5", c)
	}
}
