package files_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/testutil"
	"tutti/topology"
	"tutti/topology/files"
)

// podTree returns a tree with two pods. One of the pods has two leaf switches. A login node is next to the
// pods, directly below the root.
func podTree() topology.Tree {
	sw := func(name string, children ...topology.Vertex) topology.Vertex {
		return topology.Vertex{Kind: topology.Switch, Name: name, Confidence: 1, Children: children}
	}
	node := func(name string) topology.Vertex { return topology.Vertex{Kind: topology.Node, Name: name} }
	return topology.Tree{Root: sw("top",
		sw("pod1", sw("leaf1", node("n1"), node("n2")), sw("leaf2", node("n3"), node("n4"))),
		node("login"),
		sw("pod2", node("n5"), node("n6")))}
}

func TestWriteMPICH(t *testing.T) {
	tree := podTree()
	got, _ := write(t, &tree, files.WriteOptions{Format: files.MPICH, Nodes: []string{"n1", "n2", "n4", "n6", "login", "n1"}})
	want := "# rank: group id, switch id, port number\n0: 1 1 0\n1: 1 1 1\n2: 1 2 1\n3: 2 3 1\n4: 0 0 1\n5: 1 1 0\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	_, err := files.Write(&bytes.Buffer{}, &tree, files.WriteOptions{Format: files.MPICH, Nodes: []string{"n1", "n9"}})
	testutil.GoldenErrors(t)("a node that is not there", err)
}
