package clustering_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tutti/internal/lab/clustering"
	"tutti/internal/testutil"
	"tutti/topology"
	"tutti/topology/discover"
)

// measured returns parameters of two nodes of eight ranks each. Ranks with numbers below 4 are one socket of a node, and the
// others are another one.
func measured() discover.RankParameters {
	p := discover.RankParameters{}
	for i := range 16 {
		p.Ranks = append(p.Ranks, discover.Endpoint{Host: fmt.Sprintf("n%d", i/8), Rank: i % 8, Core: i % 8})
		var row []discover.Parameters
		for j := range i {
			latency := 4e-6
			switch {
			case i/4 == j/4:
				latency = 1e-6
			case i/8 == j/8:
				latency = 2e-6
			}
			row = append(row, pair(latency, 1e-7, 1e-7, 2e-7))
		}
		p.Pairs = append(p.Pairs, row)
	}
	return p
}

// socketTree returns the tree of these ranks.
func socketTree(t *testing.T) *topology.Tree {
	root := topology.Vertex{Kind: topology.Switch, Name: "switch"}
	for _, host := range []string{"n0", "n1"} {
		node := topology.Vertex{Kind: topology.Node, Name: host}
		for s := range 2 {
			group := topology.Vertex{Kind: topology.Group, Name: fmt.Sprintf("group0-%d", s)}
			for c := range 4 {
				group.Children = append(group.Children, topology.Vertex{Kind: topology.Core, Name: fmt.Sprintf("core%d", 4*s+c)})
			}
			node.Children = append(node.Children, group)
		}
		root.Children = append(root.Children, node)
	}
	tree := &topology.Tree{Root: root}
	testutil.NoError(t, tree.Check())
	return tree
}

// TestCompareMeasured checks the levels at which methods are compared: nodes without a tree, nodes and sockets with one.
func TestCompareMeasured(t *testing.T) {
	for _, tc := range []struct {
		tree   *topology.Tree
		levels int
	}{{nil, 1}, {socketTree(t), 2}} {
		rows := testutil.Must(clustering.CompareMeasured(t.Context(), measured(), tc.tree, 1))(t)
		if len(rows) != 2*len(clustering.Methods()) {
			t.Errorf("%d rows, want one for each method and input", len(rows))
		}
		for _, r := range rows {
			if len(r.Accuracy) != tc.levels || r.Members != 16 || r.Method != "SSSTree" && slices.Min(r.Accuracy) < 1 {
				t.Errorf("%+v: want accuracy 1 at %d levels of 16 ranks", r, tc.levels)
			}
		}
	}
}

func TestCompareMeasuredRefuses(t *testing.T) {
	missing, alone := measured(), measured()
	missing.Pairs[3][1] = discover.Parameters{}
	alone.Ranks, alone.Pairs = alone.Ranks[:8], alone.Pairs[:8]
	for name, p := range map[string]discover.RankParameters{"a pair missing": missing, "one node": alone} {
		if _, err := clustering.CompareMeasured(t.Context(), p, nil, 1); !errors.Is(err, discover.ErrParameters) {
			t.Errorf("%s: error %v, want ErrParameters", name, err)
		}
	}
	other := measured()
	other.Ranks[5].Host = "n9"
	if _, err := clustering.CompareMeasured(t.Context(), other, socketTree(t), 1); err == nil || !strings.Contains(err.Error(), "n9/5 is not in the tree") {
		t.Errorf("error %v, want one about n9/5", err)
	}
}
