package topology_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/topology"
)

func TestBuild(t *testing.T) {
	root := topology.Vertex{Kind: topology.Switch, Name: "network", Seconds: 3e-6, Confidence: 1}
	got, err := topology.Build(root, nodes("n[1-5]"), []topology.Division{
		{Kind: topology.Switch, Groups: []int{7, 7, 9, 9, 9}, Seconds: 2.5e-6, Confidence: 0.9},
		{Kind: topology.Switch, Groups: []int{0, 0, 1, 2, 1}, Seconds: 2e-6, Confidence: 0.8},
	})
	if err != nil {
		t.Fatal(err)
	}
	group := func(name string, seconds, confidence float64, children ...topology.Vertex) topology.Vertex {
		v := sw(name, seconds, children...)
		v.Confidence = confidence
		return v
	}
	want := sw("network", 3e-6,
		group("switch1-1", 2.5e-6, 0.9, group("switch0-1", 2e-6, 0.8, nodes("n[1-2]")...)),
		group("switch1-2", 2.5e-6, 0.9,
			group("switch0-2", 2e-6, 0.8, nodes("n[3,5]")...), group("switch0-3", 2e-6, 0.8, node("n4"))))
	if d := cmp.Diff(want, got.Root); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestBuildRefuses(t *testing.T) {
	root := topology.Vertex{Kind: topology.Switch, Name: "network"}
	division := func(groups ...int) topology.Division {
		return topology.Division{Kind: topology.Switch, Groups: groups}
	}
	tests := []struct {
		name      string
		members   string
		divisions []topology.Division
		want      string
	}{
		{"too few groups", "n[1-3]", []topology.Division{division(0, 1)}, "division 1: 2 groups: want one for each of 3 members"},
		{"groups that cross", "n[1-3]", []topology.Division{division(0, 0, 1), division(0, 1, 1)}, "division 2: group 1 lies in two groups"},
		{"two nodes of one name", "n1,n1", nil, "node n1 is there twice"},
	}
	for _, tc := range tests {
		if _, err := topology.Build(root, nodes(tc.members), tc.divisions); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

func TestGraft(t *testing.T) {
	tree := pods()
	if err := tree.Graft(node("n3", core("core0"), core("core1"))); err != nil {
		t.Fatal(err)
	}
	if l := tree.Levels(); l[len(l)-1].String() != "1 node of 2 places" {
		t.Errorf("levels %v, want the node's inside last", l)
	}
	if err := tree.Graft(node("n9")); !errors.Is(err, topology.ErrTree) {
		t.Errorf("a node the tree has not: %v", err)
	}
}
