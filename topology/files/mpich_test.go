package files_test

import (
	"bytes"
	"os"
	"strings"
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
	var b bytes.Buffer
	testutil.NoError(t, files.WriteMPICH(&b, &tree, []string{"n1", "n2", "n4", "n6", "login", "n1"}))
	want := "# rank: group id, switch id, port number\n0: 1 1 0\n1: 1 1 1\n2: 1 2 1\n3: 2 3 1\n4: 0 0 1\n5: 1 1 0\n"
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestWriteMPICHRefuses(t *testing.T) {
	tree := podTree()
	if err := files.WriteMPICH(&bytes.Buffer{}, &tree, []string{"n1", "n9"}); err == nil || !strings.Contains(err.Error(), `rank 1: no node "n9" in the tree`) {
		t.Errorf("a node that is not there: %v", err)
	}
	tree.Root.Children = nil
	if err := files.WriteMPICH(&bytes.Buffer{}, &tree, nil); err == nil {
		t.Error("a tree that is none was written")
	}
}

func ExampleWriteMPICH() {
	tree := podTree()
	if err := files.WriteMPICH(os.Stdout, &tree, []string{"n1", "n1", "n5"}); err != nil {
		panic(err)
	}
	// Output:
	// # rank: group id, switch id, port number
	// 0: 1 1 0
	// 1: 1 1 0
	// 2: 2 3 0
}
