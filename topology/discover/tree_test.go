package discover_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/topology/discover"
)

// machine draws the output of a benchmark run with four passes (measurements of all pairs). The simulated
// machine has the given number of leaf switches. The parameters are the number of nodes on each leaf switch,
// of sockets in each node, and of cores in each socket.
func machine(leaves, nodes, sockets, cores int) discover.Measurements {
	rng := rand.New(rand.NewPCG(1, 2))
	r := discover.Measurements{Ended: true}
	for n := range leaves * nodes {
		r.Hosts = append(r.Hosts, fmt.Sprintf("n%d", n+1))
	}
	pair := func(stage string, pass int, a, b discover.Endpoint, near bool) {
		seconds := 4e-6 * math.Exp(0.02*rng.NormFloat64())
		if near {
			seconds /= 3
		}
		r.Pairs = append(r.Pairs, discover.Measurement{Stage: stage, Pass: pass, A: a, B: b, Small: seconds, SmallMedian: seconds, Large: seconds, LargeMedian: seconds})
	}
	for pass := range 4 {
		for i, a := range r.Hosts {
			for j := range i {
				pair(discover.Between, pass, discover.Endpoint{Host: r.Hosts[j]}, discover.Endpoint{Host: a}, i/nodes == j/nodes)
			}
			for x := range sockets * cores {
				for y := range x {
					pair(discover.Inside, pass, discover.Endpoint{Host: a, Rank: y, Core: y}, discover.Endpoint{Host: a, Rank: x, Core: x}, x/cores == y/cores)
				}
			}
		}
	}
	return r
}

func levels(t *testing.T, r discover.Measurements) string {
	t.Helper()
	tree := testutil.Must(r.Tree())(t)
	var out []string
	for _, l := range tree.Levels() {
		head, _, _ := strings.Cut(l.String(), ",")
		out = append(out, head)
	}
	return strings.Join(append(out, tree.Gaps...), "; ")
}

// TestTree checks that switches, and groups inside nodes, are found in a single run of the benchmark.
func TestTree(t *testing.T) {
	if got, want := levels(t, machine(2, 4, 2, 4)), "1 switch of 8 nodes; 2 switches of 4 nodes; 8 nodes of 8 places; 16 groups of 4 places"; got != want {
		t.Errorf("levels %s, want %s", got, want)
	}
}

// TestTreeGaps checks that missing measurements are listed as gaps. The rest of the tree must stay the
// same.
func TestTreeGaps(t *testing.T) {
	r := machine(2, 4, 1, 1)
	r.Pairs = slices.DeleteFunc(r.Pairs, func(p discover.Measurement) bool { return p.A.Host == "n8" || p.B.Host == "n8" })
	if got, want := levels(t, r), `1 switch of 7 nodes; 2 switches of 3 to 4 nodes; never measured: ["n8"]`; got != want {
		t.Errorf("one node lost: %s, want %s", got, want)
	}
	r = machine(2, 4, 1, 1)
	r.Pairs = slices.DeleteFunc(r.Pairs, func(p discover.Measurement) bool { return p.A.Host != "n1" })
	if got := levels(t, r); !strings.Contains(got, "8 nodes") || !strings.Contains(got, "too few pairs of nodes were measured") {
		t.Errorf("one node's pairs alone: %s", got)
	}
	one := machine(1, 1, 2, 4)
	if got, want := levels(t, one), "1 node of 8 places; 2 groups of 4 places"; got != want {
		t.Errorf("one node: %s, want %s", got, want)
	}
	if _, err := (discover.Measurements{}).Tree(); err == nil {
		t.Error("a tree of nothing")
	}
}

// TestRankPairs checks that RankPairs returns one class for each two ranks that can communicate in a job, and that a name
// with two ranks in either order selects this class.
func TestRankPairs(t *testing.T) {
	at := func(a, b string) discover.Measurement {
		return discover.Measurement{Stage: discover.Between, A: discover.Endpoint{Host: a}, B: discover.Endpoint{Host: b}}
	}
	nodes := []discover.Measurement{at("n1", "n2"), at("n2", "n1"), at("n1", "n3")}
	inside := discover.Measurement{Stage: discover.Inside, A: discover.Endpoint{Host: "n1", Rank: 1, Core: 4}, B: discover.Endpoint{Host: "n1"}}
	for _, tc := range []struct {
		pairs       []discover.Measurement
		names, want string
	}{
		{nodes, "", "n1/0:n2/0 n1/0:n3/0"},
		{nodes, "n3:n1", "n1/0:n3/0"},
		{append(nodes, inside), "", "n1/0:n1/1 n1/0:n2/0 n1/1:n2/0 n1/0:n3/0 n1/1:n3/0"},
		{append(nodes, inside), "n2:n1/1 n1/1:n1/0", "n1/0:n1/1 n1/1:n2/0"},
	} {
		var got []string
		for _, c := range testutil.Must(discover.RankPairs(tc.pairs, strings.Fields(tc.names)))(t) {
			got = append(got, c.Name)
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%q: classes %v, want %s", tc.names, got, tc.want)
		}
	}
	for _, name := range []string{"n1:n4", "n2:n3", "n1/7:n2"} {
		if _, err := discover.RankPairs(nodes, []string{name}); !errors.Is(err, discover.ErrPair) {
			t.Errorf("%s was not measured: %v, want ErrPair", name, err)
		}
	}
}

// TestExampleRounds checks that the pairs of ranks of n nodes are measured in as few rounds as possible: all nodes measure
// inside at the same time, and n/2 pairs of nodes between them.
func TestExampleRounds(t *testing.T) {
	for nodes, want := range map[int]int{1: 3, 2: 3 + 9, 3: 3 + 3*9, 4: 3 + 3*9, 7: 3 + 7*9, 8: 3 + 7*9} {
		p := discover.Plan{Classes: rankPairs(t, nodes, 3)}
		if got := p.ExampleRounds(); got != want || len(p.Classes) != 3*nodes*(3*nodes-1)/2 {
			t.Errorf("%d nodes of 3 ranks: %d pairs in %d rounds, want %d in %d", nodes, len(p.Classes), got, 3*nodes*(3*nodes-1)/2, want)
		}
	}
}

// rankPairs returns the classes of all pairs of ranks on the nodes n0, n1 and so on.
func rankPairs(t *testing.T, nodes, ppn int) []discover.Class {
	t.Helper()
	var pairs []discover.Measurement
	for i := range nodes {
		a := discover.Endpoint{Host: fmt.Sprint("n", i)}
		for rank := 1; rank < ppn; rank++ {
			pairs = append(pairs, discover.Measurement{A: a, B: discover.Endpoint{Host: a.Host, Rank: rank}})
		}
		for j := range i {
			pairs = append(pairs, discover.Measurement{A: discover.Endpoint{Host: fmt.Sprint("n", j)}, B: a})
		}
	}
	return testutil.Must(discover.RankPairs(pairs, nil))(t)
}

// TestClasses checks the number of pairs in each class. A class holds the pairs whose lowest common ancestors are
// equally high.
func TestClasses(t *testing.T) {
	r := machine(2, 4, 2, 4)
	tree := testutil.Must(r.Tree())(t)
	var got []string
	for _, c := range discover.Classes(&tree, r.Pairs) {
		got = append(got, fmt.Sprintf("%s %d", c.Name, len(c.Pairs)))
	}
	slices.Sort(got)
	if want := "group0 96, node 100, switch0 12, switch1 16"; strings.Join(got, ", ") != want {
		t.Errorf("classes %v, want %s", got, want)
	}
}
