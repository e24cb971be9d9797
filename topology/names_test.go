package topology_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/topology"
)

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

// TestWithNames checks that WithNames renames nodes in a copy of the tree only.
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

// TestCompareDomains checks that Compare matches short names with names that contain a domain.
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
