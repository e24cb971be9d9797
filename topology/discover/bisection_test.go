package discover_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tutti/topology"
	"tutti/topology/discover"
)

// switches returns a tree of two leaf switches with four nodes each.
func switches() *topology.Tree {
	root := topology.Vertex{Kind: topology.Switch, Name: "top"}
	for l := range 2 {
		leaf := topology.Vertex{Kind: topology.Switch, Name: fmt.Sprintf("leaf%d", l+1)}
		for n := range 4 {
			leaf.Children = append(leaf.Children, topology.Vertex{Kind: topology.Node, Name: fmt.Sprintf("n%d", 4*l+n+1)})
		}
		root.Children = append(root.Children, leaf)
	}
	return &topology.Tree{Root: root}
}

func TestRetestPairs(t *testing.T) {
	met := []discover.Measurement{{A: discover.Endpoint{Host: "n1"}, B: discover.Endpoint{Host: "n2"}}, {A: discover.Endpoint{Host: "n4"}, B: discover.Endpoint{Host: "n1"}}}
	hosts := []string{"n1", "n2", "n3", "n4", "n5", "n6", "n7"}
	got := discover.RetestPairs([]string{"n1", "n3", "leaf1"}, hosts, met)
	want := [][2]string{{"n1", "n5"}, {"n1", "n6"}, {"n1", "n7"}, {"n3", "n2"}, {"n3", "n4"}, {"n3", "n5"}}
	if !slices.Equal(got, want) {
		t.Errorf("again %v, want %v", got, want)
	}
	if got := discover.RetestPairs([]string{"n1"}, hosts[:2], met); !slices.Equal(got, [][2]string{{"n1", "n2"}}) {
		t.Errorf("nobody it has not met: %v", got)
	}
}

// A switch that four pairs share is half as fast for each pair. A leaf switch is as fast as
// for one pair.
func TestBisections(t *testing.T) {
	hosts := switches().Nodes()
	cuts := discover.Cuts(switches(), hosts)
	if len(cuts) != 3 || cuts[0].Switch != "top" || len(cuts[0].Pairs) != 4 || cuts[0].Pairs[0] != [2]string{"n1", "n5"} || len(cuts[1].Pairs) != 2 {
		t.Fatalf("cuts %v", cuts)
	}
	var pairs []discover.Measurement
	for round, together := range discover.CutRounds(cuts) {
		for _, p := range together {
			for pass := range 4 {
				seconds := 1e-3 * (1 + 0.001*float64(pass))
				if round == 0 {
					seconds *= 2
				}
				pairs = append(pairs, discover.Measurement{Round: 5 + round, A: discover.Endpoint{Host: p[0]}, B: discover.Endpoint{Host: p[1]}, LargeMedian: seconds})
			}
		}
	}
	got := discover.Bisections(cuts, 5, 1e6, pairs)
	if len(got) != 3 || math.Abs(got[0].Slowdown-2) > 1e-3 || got[0].Chance > 1e-6 || math.Abs(got[0].Bytes/4e9-1) > 0.01 {
		t.Fatalf("bisections %+v: want the top 2 times as slow at 4 GB/s", got)
	}
	if leaf := got[1]; leaf.Switch != "leaf1" || math.Abs(leaf.Slowdown-1) > 1e-3 || leaf.Chance < 0.1 {
		t.Errorf("%+v: want a leaf that is not oversubscribed", leaf)
	}
	if lost := discover.Cuts(switches(), hosts[:1]); len(lost) != 0 {
		t.Errorf("cuts of one node: %v", lost)
	}
}
