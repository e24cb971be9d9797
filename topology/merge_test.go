package topology_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/testutil"
	"tutti/topology"
	"tutti/topology/discover"
)

func merge(t *testing.T, trees ...topology.Tree) topology.Merged {
	t.Helper()
	m := testutil.Must(topology.Merge(trees))(t)
	testutil.NoError(t, m.Tree.Check())
	return m
}

func leavesOf(t topology.Tree) string {
	var out []string
	for _, names := range t.Switches() {
		out = append(out, topology.HostList(names))
	}
	return strings.Join(out, " ")
}

func network(seconds float64, children ...topology.Vertex) topology.Tree {
	return topology.Tree{Root: sw("network", seconds, children...)}
}

func TestMerge(t *testing.T) {
	first := network(3e-6, sw("a", 2e-6, nodes("n[1-2]")...), sw("b", 2e-6, nodes("n[3-4]")...))
	tests := []struct {
		name   string
		others []topology.Tree
		leaves string
		gaps   []string
	}{
		{name: "alone", leaves: "n[1-2] n[3-4]"},
		{name: "a chain over two jobs, times drifted",
			others: []topology.Tree{network(3.1e-6, sw("x", 2.1e-6, nodes("n[2,5]")...), sw("y", 2.1e-6, nodes("n[3,6]")...))},
			leaves: "n[1-2,5] n[3-4,6]"},
		{name: "a job within one switch", others: []topology.Tree{network(2e-6, nodes("n[4,7-8]")...)}, leaves: "n[1-2] n[3-4,7-8]"},
		{name: "a job with one node of each switch", others: []topology.Tree{network(3e-6, nodes("n[1,3,9]")...)}, leaves: "n9 n[1-2] n[3-4]"},
		{name: "never together", others: []topology.Tree{network(3e-6, sw("x", 2e-6, nodes("n[1,5]")...), sw("y", 2e-6, nodes("n[6-7]")...))},
			leaves: "n[1-2,5] n[3-4] n[6-7]",
			gaps:   []string{"1 pair below one switch never measured together, switch0-2 and switch0-3 first: they may be one"}},
		{name: "names in another case", others: []topology.Tree{network(2e-6, nodes("N[4,7-8]")...)}, leaves: "n[1-2] n[3-4],N[7-8]"},
		{name: "nothing in common", others: []topology.Tree{network(3e-6, sw("x", 2e-6, nodes("m[1-2]")...), sw("y", 2e-6, nodes("m[3-4]")...))},
			leaves: "n[1-2] n[3-4] m[1-2] m[3-4]",
			gaps:   []string{"1 pair below one switch never measured together, switch1-1 and switch1-2 first: they may be one"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			m := merge(t, append([]topology.Tree{first}, tc.others...)...)
			if got := leavesOf(m.Tree); got != tc.leaves {
				t.Errorf("leaves %s, want %s", got, tc.leaves)
			}
			if d := cmp.Diff(tc.gaps, m.Tree.Gaps); d != "" {
				t.Errorf("gaps (-want +got):\n%s", d)
			}
			if m.Conflicts != nil {
				t.Errorf("conflicts %v", m.Conflicts)
			}
		})
	}
}

func TestMergeConflict(t *testing.T) {
	sure := network(3e-6, sw("a", 2e-6, nodes("n[1-2]")...), sw("b", 2e-6, nodes("n[3-4]")...))
	unsure := network(3e-6, sw("a", 2e-6, nodes("n[1,3]")...), sw("b", 2e-6, nodes("n[2,4]")...))
	for i := range unsure.Root.Children {
		unsure.Root.Children[i].Confidence = 0.7
	}
	for other, trees := range [][]topology.Tree{{unsure, sure}, {sure, unsure}} {
		m := merge(t, trees...)
		if got := leavesOf(m.Tree); got != "n[1-2] n[3-4]" && got != "n[1,2] n[3,4]" && got != "n[1-2] n[3,4]" {
			t.Errorf("leaves %s, want those of the sure job", got)
		}
		want := []topology.Conflict{
			{A: "n1", B: "n3", Seconds: 2e-6, OtherTree: other},
			{A: "n2", B: "n4", Seconds: 2e-6, OtherTree: other},
			{A: "n1", B: "n2", Seconds: 2e-6, Together: true, OtherTree: other},
			{A: "n3", B: "n4", Seconds: 2e-6, Together: true, OtherTree: other},
		}
		near := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 })
		if d := cmp.Diff(want, m.Conflicts, near); d != "" {
			t.Errorf("conflicts (-want +got):\n%s", d)
		}
	}
}

// TestMergeUnclear checks that a switch with confidence 0 has no influence on where its nodes are placed.
func TestMergeUnclear(t *testing.T) {
	unclear := network(3e-6, nodes("n[1,5]")...)
	unclear.Root.Confidence = 0
	unclear.Gaps = []string{"no clear level"}
	m := merge(t, network(3e-6, sw("a", 2e-6, nodes("n[1-2]")...), sw("b", 2e-6, nodes("n[3-4]")...)), unclear)
	if got := leavesOf(m.Tree); got != "n5 n[1-2] n[3-4]" || m.Tree.Root.Confidence != 0 {
		t.Errorf("%s below a root of confidence %g, want n5 alone below one of 0", got, m.Tree.Root.Confidence)
	}
	if len(m.Tree.Gaps) != 2 || m.Tree.Gaps[0] != "job 2: no clear level" {
		t.Errorf("gaps %q", m.Tree.Gaps)
	}
}

func TestMergeInsides(t *testing.T) {
	plain := network(2e-6, node("n1"), node("n2", core("core0")))
	full := network(2e-6, node("n1", core("core0"), core("core1")), node("n2", core("x"), core("y")))
	m := merge(t, plain, full)
	if l := m.Tree.Levels(); l[1].String() != "2 nodes of 2 places" {
		t.Errorf("levels %v, want both nodes with the inside that has most", l)
	}
	if d := cmp.Diff([]string{"the inside of node n2 differs between jobs"}, m.Tree.Gaps); d != "" {
		t.Errorf("gaps (-want +got):\n%s", d)
	}
}

func TestMergeRefuses(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	for name, trees := range map[string][]topology.Tree{
		"nothing": nil, "a tree of a file": {network(0, nodes("n[1-2]")...)}, "an empty tree": {{}},
		"two parts of a node": {{Root: socketOf("n1", "socket0")}, {Root: socketOf("n1", "socket1")}},
	} {
		_, err := topology.Merge(trees)
		golden(name, err, topology.ErrTree)
	}
}

// socketOf returns a node with one socket.
func socketOf(node, socket string) topology.Vertex {
	return topology.Vertex{Kind: topology.Node, Name: node, Confidence: 1, Children: []topology.Vertex{{Kind: topology.Socket, Name: socket, Confidence: 1}}}
}

// restrict returns the tree that a job would measure on the nodes with the numbers `some`. Each leaf switch of
// the machine has perLeaf nodes, and each pod has perPod nodes. All times are multiplied by `drift`.
func restrict(some []int, perLeaf, perPod int, drift float64) topology.Tree {
	pods := make([]int, len(some))
	leaves := make([]int, len(some))
	var names []string
	for i, n := range some {
		leaves[i], pods[i] = n/perLeaf, n/perPod
		names = append(names, fmt.Sprintf("n%04d", n))
	}
	distinct := func(groups []int) int {
		sorted := slices.Sorted(slices.Values(groups))
		return len(slices.Compact(sorted))
	}
	r := discover.LevelReport{Seconds: 3.3e-6 * drift, Levels: []discover.Level{
		{Labels: discover.NewLabels(pods), Seconds: 2.78e-6 * drift, Confidence: 1},
		{Labels: discover.NewLabels(leaves), Seconds: 2.18e-6 * drift, Confidence: 1},
	}}
	if distinct(leaves) == len(some) { // a level with one node per group cannot be measured
		r.Levels = r.Levels[:1]
	}
	if distinct(pods) == len(some) {
		r.Levels = nil
	}
	t, err := r.Tree(names)
	if err != nil {
		panic(err)
	}
	return t
}

// TestMergeManyJobs checks that 60 small jobs on random nodes together give a correct tree. Pairs that no
// job compares must be reported.
func TestMergeManyJobs(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		const n, perLeaf, perPod = 96, 8, 32
		var trees []topology.Tree
		for range 60 {
			trees = append(trees, restrict(rng.Perm(n)[:16], perLeaf, perPod, 1+0.04*rng.Float64()))
		}
		m := merge(t, trees...)
		if len(m.Conflicts) > 0 {
			t.Fatalf("seed %d: conflicts %v", seed, m.Conflicts)
		}
		if got := len(m.Tree.Switches()); len(m.Tree.Nodes()) != n || got > n/perLeaf+m.Unknown {
			t.Errorf("seed %d: %d nodes below %d leaves, want %d below %d and one for each of %d unknown pairs",
				seed, len(m.Tree.Nodes()), got, n, n/perLeaf, m.Unknown)
		}
		for _, leaf := range m.Tree.Switches() {
			for _, name := range leaf {
				var a, b int
				fmt.Sscanf(leaf[0], "n%d", &a)
				fmt.Sscanf(name, "n%d", &b)
				if a/perLeaf != b/perLeaf {
					t.Errorf("seed %d: %s and %s are below one switch", seed, leaf[0], name)
				}
			}
		}
	}
}
