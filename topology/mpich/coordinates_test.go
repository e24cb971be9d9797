package mpich_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/topology"
	"tutti/topology/mpich"
)

// machine is two pods, one of two leaves, and a node beside the pods.
func machine() topology.Tree {
	sw := func(name string, children ...topology.Vertex) topology.Vertex {
		return topology.Vertex{Kind: topology.Switch, Name: name, Confidence: 1, Children: children}
	}
	node := func(name string) topology.Vertex { return topology.Vertex{Kind: topology.Node, Name: name} }
	return topology.Tree{Root: sw("top",
		sw("pod1", sw("leaf1", node("n1"), node("n2")), sw("leaf2", node("n3"), node("n4"))),
		node("login"),
		sw("pod2", node("n5"), node("n6")))}
}

func TestWriteAndRead(t *testing.T) {
	tree := machine()
	var b bytes.Buffer
	if err := mpich.Write(&b, &tree, []string{"n1", "n2", "n4", "n6", "login", "n1"}); err != nil {
		t.Fatal(err)
	}
	want := "# rank: group id, switch id, port number\n0: 1 1 0\n1: 1 1 1\n2: 1 2 1\n3: 2 3 1\n4: 0 0 1\n5: 1 1 0\n"
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	got, err := mpich.Read(&b, "coords")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(mpich.Coordinate{Group: 2, Switch: 3, Port: 1}, got[3]); d != "" || len(got) != 6 {
		t.Errorf("%d coordinates, want 6; rank 3 (-want +got):\n%s", len(got), d)
	}
}

func TestWriteRefuses(t *testing.T) {
	tree := machine()
	if err := mpich.Write(&bytes.Buffer{}, &tree, []string{"n1", "n9"}); err == nil || !strings.Contains(err.Error(), `rank 1: no node "n9" in the tree`) {
		t.Errorf("a node that is not there: %v", err)
	}
	tree.Root.Children = nil
	if err := mpich.Write(&bytes.Buffer{}, &tree, nil); err == nil {
		t.Error("a tree that is none was written")
	}
}

func TestReadRefuses(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", "c: no coordinates behind the first line"},
		{"the first line alone", "# x\n", "c: no coordinates behind the first line"},
		{"no colon", "#\n0 1 2 3\n", "c:2: \"0 1 2 3\": want rank 0 and a colon first"},
		{"a rank left out", "#\n0: 1 2 3\n2: 1 2 3\n", "c:3: \"2: 1 2 3\": want rank 1 and a colon first"},
		{"two numbers", "#\n0: 1 2\n", "c:2: \"0: 1 2\": want three numbers"},
		{"a word", "#\n0: 1 2 x\n", "c:2: \"x\": want a whole number"},
	} {
		if _, err := mpich.Read(strings.NewReader(tc.text), "c"); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("# rank: group id, switch id, port number\n0: 1 7 -1\n1: 1 10 -1\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := mpich.Read(strings.NewReader(text), "c")
		if (err == nil) != (len(got) > 0) {
			t.Errorf("%q: %d coordinates, %v", text, len(got), err)
		}
	})
}

func ExampleWrite() {
	tree := machine()
	if err := mpich.Write(os.Stdout, &tree, []string{"n1", "n1", "n5"}); err != nil {
		panic(err)
	}
	// Output:
	// # rank: group id, switch id, port number
	// 0: 1 1 0
	// 1: 1 1 0
	// 2: 2 3 0
}
