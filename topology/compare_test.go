package topology_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/testutil"
	"tutti/topology"
)

// TestCompare checks the differences between the tree of pods() and measured trees. Some of the measured
// trees lack the level of pods, so that both pods appear as one switch.
func TestCompare(t *testing.T) {
	leaves := func(lists ...string) topology.Tree {
		var out []topology.Vertex
		for i, l := range lists {
			out = append(out, sw("m"+string(rune('1'+i)), 2e-6, nodes(l)...))
		}
		return topology.Tree{Root: sw("all", 3e-6, out...)}
	}
	unclear := topology.Tree{Root: sw("all", 3e-6, nodes("n[1-8]")...)}
	unclear.Root.Confidence = 0
	podsOff := topology.Tree{Root: sw("all", 3e-6,
		sw("p1", 2.5e-6, sw("a", 2e-6, nodes("n[1-2]")...), sw("c", 2e-6, nodes("n[5-6]")...)),
		sw("p2", 2.5e-6, sw("b", 2e-6, nodes("n[3-4]")...), sw("d", 2e-6, nodes("n[7-8]")...)))}
	tests := []struct {
		name     string
		measured topology.Tree
		agree    int
		want     []string
	}{
		{name: "the same", measured: pods(), agree: 8},
		{name: "a node in another leaf", measured: leaves("n[1-3]", "n4", "n[5-6]", "n[7-8]"), agree: 7, want: []string{
			"n3: declared below leaf2, measured with those below leaf1",
			"leaf[3-4]: declared below pod2, measured together with those below pod1",
		}},
		{name: "not the same nodes", measured: leaves("n[1-2],n9", "n3", "n[5-6]", "n[7-8]"), agree: 7, want: []string{
			"n4: declared, but not measured", "n9: measured, but not declared",
			"leaf[3-4]: declared below pod2, measured together with those below pod1",
		}},
		{name: "a leaf is two", measured: leaves("n1", "n2", "n[3-4]", "n[5-6]", "n[7-8]"), agree: 7, want: []string{
			"n2: declared below leaf1, measured apart from the others there",
			"leaf[3-4]: declared below pod2, measured together with those below pod1",
		}},
		{name: "two leaves are one", measured: leaves("n[1-4]", "n[5-6]", "n[7-8]"), agree: 6, want: []string{
			"n[3-4]: declared below leaf2, measured together with those below leaf1",
			"leaf1: declared below pod1, measured together with those below pod2",
		}},
		{name: "pods of other leaves", measured: podsOff, agree: 8, want: []string{
			"leaf2: declared below pod1, measured with those below pod2",
			"leaf3: declared below pod2, measured with those below pod1",
		}},
		{name: "nothing clear", measured: unclear, want: []string{
			"n[1-2]: measured without a clear division", "n[3-4]: measured without a clear division",
			"n[5-6]: measured without a clear division", "n[7-8]: measured without a clear division",
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			declared := pods()
			got := testutil.Must(topology.Compare(&declared, &tc.measured))(t)
			var words []string
			for _, d := range got.Differences {
				words = append(words, d.String())
			}
			if got.Agree != tc.agree {
				t.Errorf("%d nodes agree, want %d", got.Agree, tc.agree)
			}
			if d := cmp.Diff(tc.want, words); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestNames(t *testing.T) {
	tests := []struct {
		name  string
		known []string
		host  string
		want  string // empty if nothing is found
	}{
		{"as it is", []string{"n1", "n2"}, "n2", "n2"},
		{"a host with a domain", []string{"n1", "n2"}, "n2.cluster.site", "n2"},
		{"a node with a domain", []string{"n1.cluster.site"}, "n1", "n1.cluster.site"},
		{"two domains", []string{"n1.a"}, "n1.b", ""},
		{"which of two", []string{"n1.a", "n1.b"}, "n1", ""},
		{"which of three", []string{"n1.a", "n1.b", "n1.c"}, "n1", ""},
		{"the one without a domain", []string{"n1.a", "n1"}, "n1", "n1"},
		{"a third domain", []string{"n1.a", "n1"}, "n1.b", ""},
		{"which of two domains", []string{"n1", "n1.a", "n2"}, "n1.c", ""},
		{"another case", []string{"N1.a", "n2"}, "n1.A", "N1.a"},
		{"another case of a short name", []string{"N1.a", "n2"}, "n1", "N1.a"},
		{"a domain behind another case", []string{"N1", "n2"}, "n1.a", "N1"},
		{"twice the same", []string{"n1.a", "n1.a"}, "n1", "n1.a"},
		{"none", []string{"n1"}, "n12", ""},
		{"no name", []string{"n1"}, "", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, ok := topology.NamesOf(tc.known).Find(tc.host)
			if ok != (tc.want != "") || ok && got != tc.want {
				t.Errorf("Find(%q) = %q, %t; want %q", tc.host, got, ok, tc.want)
			}
		})
	}
}

// TestNamesMatch checks that two hosts never stand for one node.
func TestNamesMatch(t *testing.T) {
	got := topology.NamesOf([]string{"n1", "n2", "n3.a"}).Match([]string{"n1.a", "n1.b", "n2.a", "n2.a", "N2.A", "n3", "n4"})
	if d := cmp.Diff(map[string]string{"n2.a": "n2", "N2.A": "n2", "n3": "n3.a"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestWithNames checks that WithNames renames nodes only in a copy of the tree.
func TestWithNames(t *testing.T) {
	tree := pods()
	got := tree.WithNames([]string{"n2.site", "n3", "other"})
	want := pods()
	want.Root.Children[0].Children[0].Children[1].Name = "n2.site"
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff(pods(), tree); d != "" {
		t.Errorf("the tree itself changed (-want +got):\n%s", d)
	}
}

// TestCompareDomains checks that Compare matches a short name with the same name followed by a domain.
func TestCompareDomains(t *testing.T) {
	declared := pods()
	measured := declared.WithNames([]string{"n1.site", "n2.site", "n3.site", "n4.site", "n5.site", "n6.site", "n7.site", "n8.site"})
	for _, pair := range [][2]*topology.Tree{{&declared, &measured}, {&measured, &declared}} {
		c, err := topology.Compare(pair[0], pair[1])
		if err != nil || c.Agree != 8 || len(c.Differences) != 0 {
			t.Errorf("%+v, %v; want 8 nodes that agree", c, err)
		}
	}
}
