package discover_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/topology"
	"tutti/topology/discover"
)

func TestResultTree(t *testing.T) {
	r := discover.LevelReport{
		Seconds: 3e-6,
		Levels: []discover.Level{
			{Labels: discover.Labels{0, 1, 0, 1}, Seconds: 2e-6, Confidence: 0.9},
			{Labels: discover.Labels{0, 1, 2, 1}, Seconds: 1e-6, Confidence: 1},
		},
		Far:     []discover.FarMember{{Member: 2, Times: 1.5}},
		Unclear: []discover.UnclearDivision{{Groups: 3}},
	}
	got, err := r.Tree([]string{"a", "b", "c", "d"})
	if err != nil {
		t.Fatal(err)
	}
	var outline []string
	for v := range got.All() {
		outline = append(outline, fmt.Sprintf("%v %g %g", v, v.Seconds, v.Confidence))
	}
	if d := cmp.Diff([]string{
		"switch switch2-1 3e-06 1",
		"switch switch1-1 2e-06 0.9", "switch switch0-1 1e-06 1", "node a 0 0", "switch switch0-2 1e-06 1", "node c 0 0",
		"switch switch1-2 2e-06 0.9", "switch switch0-3 1e-06 1", "node b 0 0", "node d 0 0",
	}, outline); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if gaps := strings.Join(got.Gaps, "\n"); !strings.HasPrefix(gaps, "3 groups are nearer") || !strings.Contains(gaps, "\nc is 1.5 times as far") {
		t.Errorf("gaps:\n%s", gaps)
	}
	if _, err := r.Tree([]string{"a", "b", "c"}); err == nil {
		t.Error("three names of four members: no error")
	}
	if _, err := r.Tree([]string{"a", "b", "c", "c"}); err == nil {
		t.Error("two nodes of one name: no error")
	}
}

// A report without levels gives a tree of one switch with confidence 0.
func TestResultTreeOfNothing(t *testing.T) {
	got, err := discover.LevelReport{Seconds: 1e-6}.Tree([]string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	want := topology.Tree{Root: topology.Vertex{Kind: topology.Switch, Name: "switch0-1", Seconds: 1e-6,
		Children: []topology.Vertex{{Kind: topology.Node, Name: "a"}, {Kind: topology.Node, Name: "b"}}}, Gaps: []string{"no clear level"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
