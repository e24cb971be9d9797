package topology_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	strict "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"tutti/internal/testutil"
	"tutti/topology"
)

// sw returns a switch with confidence 1.
func sw(name string, seconds float64, children ...topology.Vertex) topology.Vertex {
	return topology.Vertex{Kind: topology.Switch, Name: name, Seconds: seconds, Confidence: 1, Children: children}
}

func node(name string, children ...topology.Vertex) topology.Vertex {
	return topology.Vertex{Kind: topology.Node, Name: name, Children: children}
}

func nodes(list string) []topology.Vertex {
	names, err := topology.Hosts(list)
	if err != nil {
		panic(err)
	}
	var out []topology.Vertex
	for _, n := range names {
		out = append(out, node(n))
	}
	return out
}

func core(name string) topology.Vertex {
	return topology.Vertex{Kind: topology.Core, Name: name}
}

// pods returns a tree with two pods. Each pod has two leaf switches, and each leaf switch has two nodes.
func pods() topology.Tree {
	return topology.Tree{Root: sw("top", 3e-6,
		sw("pod1", 2.5e-6, sw("leaf1", 2e-6, nodes("n[1-2]")...), sw("leaf2", 2e-6, nodes("n[3-4]")...)),
		sw("pod2", 2.5e-6, sw("leaf3", 2e-6, nodes("n[5-6]")...), sw("leaf4", 2e-6, nodes("n[7-8]")...)),
	)}
}

func TestCheck(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	tests := []struct {
		name  string
		root  topology.Vertex
		valid bool
	}{
		{name: "pods", root: pods().Root, valid: true},
		{name: "a node alone", root: node("n1", core("core0")), valid: true},
		{name: "nothing but a root without a name", root: sw("", 0, nodes("n1")...), valid: true},
		{name: "two nodes of one name", root: sw("s", 0, node("n1"), node("n1"))},
		{name: "two nodes whose names differ in case", root: sw("s", 0, node("n1"), node("N1"))},
		{name: "two switches of one name", root: sw("s", 0, sw("s", 0, node("n1")))},
		{name: "cores of one name in two nodes", root: sw("s", 0, node("a", core("core0")), node("b", core("core0"))), valid: true},
		{name: "no kind", root: topology.Vertex{Name: "x"}},
		{name: "no name below the root", root: sw("s", 0, node(""))},
		{name: "node below a node", root: node("a", node("b"))},
		{name: "core below a switch", root: sw("s", 0, core("c"))},
		{name: "empty switch", root: sw("s", 0)},
		{name: "negative time", root: sw("s", -1, node("a"))},
		{name: "time that is none", root: sw("s", math.NaN(), node("a"))},
		{name: "confidence", root: topology.Vertex{Kind: topology.Node, Name: "a", Confidence: 1.5}},
	}
	for _, tc := range tests {
		tree := topology.Tree{Root: tc.root}
		err := tree.Check()
		if !tc.valid {
			golden(tc.name, err, topology.ErrTree)
		} else if err != nil {
			t.Errorf("%s: Check() = %v", tc.name, err)
		}
	}
}

func TestNodesAndSwitches(t *testing.T) {
	tree := pods()
	if got := topology.HostList(tree.Nodes()); got != "n[1-8]" {
		t.Errorf("Nodes() = %s", got)
	}
	want := [][]string{{"n1", "n2"}, {"n3", "n4"}, {"n5", "n6"}, {"n7", "n8"}}
	if d := cmp.Diff(want, tree.Switches()); d != "" {
		t.Errorf("Switches() (-want +got):\n%s", d)
	}
	for v, parent := range tree.All() {
		if v.Kind == topology.Node {
			break // checks that All supports an early break
		}
		if parent == nil && v.Height() != 2 {
			t.Errorf("height of the root %d, want 2", v.Height())
		}
	}
}

func TestLevels(t *testing.T) {
	tree := pods()
	tree.Root.Children[1].Children[1].Children = nodes("n7")
	cache := func(name string, children ...topology.Vertex) topology.Vertex {
		return topology.Vertex{Kind: topology.Cache, Name: name, Children: children}
	}
	tree.Root.Children[0].Children[0].Children[0].Children = []topology.Vertex{
		{Kind: topology.Socket, Name: "socket0", Seconds: 0.0123456, Confidence: 0.5, Children: []topology.Vertex{
			cache("L3-0", cache("L2-0", core("core0"), core("core1")), cache("L2-1", core("core2"), core("core3"))),
		}},
	}
	var got []string
	for _, l := range tree.Levels() {
		got = append(got, l.String())
	}
	want := []string{
		"1 switch of 7 nodes, 3 µs",
		"2 switches of 3 to 4 nodes, 2.5 µs",
		"4 switches of 1 to 2 nodes, 2 µs",
		"1 node of 4 places",
		"1 socket of 4 places, 12300 µs",
		"1 cache of 4 places",
		"2 caches of 2 places",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Levels() (-want +got):\n%s", d)
	}
	if c := tree.Levels()[4].Confidence; c != 0.5 {
		t.Errorf("confidence of the socket %g, want 0.5", c)
	}
}

func TestWriteAndRead(t *testing.T) {
	tree := pods()
	tree.Gaps = []string{"n9 was never measured"}
	tree.Root.Children[0].Confidence = 0.96875
	var b bytes.Buffer
	testutil.NoError(t, tree.Write(&b))
	testutil.CheckGolden(t, "topology.json", b.Bytes())
	got, err := topology.Read(&b, "topology.json")
	if d := cmp.Diff(tree, got); d != "" || err != nil {
		t.Errorf("read back: %v (-want +got):\n%s", err, d)
	}
	tree.Root.Children = nil
	if err := tree.Write(&b); err == nil {
		t.Error("a switch with nothing below it was written")
	}
}

func TestReadRefuses(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	tests := []struct{ name, text string }{
		{"nothing", ""},
		{"a key it does not know", "{\"version\": 1,\n\"colour\": 1}"},
		{"the same inside", "{\"version\": 1,\n\"root\": {\n\"cables\": 4,\n\"name\": \"s\"}\n}"},
		{"broken", "{\"version\": 1,\n\n\"root\": ]"},
		{"another version", `{"version": 2, "root": {"kind": "node", "name": "n"}}`},
		{"something behind", `{"version": 1, "root": {"kind": "node", "name": "n"}} {}`},
		{"no tree", `{"version": 1, "root": {"kind": "switch", "name": "s"}}`},
	}
	for _, tc := range tests {
		_, err := topology.Read(strings.NewReader(tc.text), "t.json")
		golden(tc.name, err)
	}
	_, err := topology.Read(strings.NewReader("{\"version\":\n\"one\"}"), "t.json")
	if semantic, ok := errors.AsType[*strict.SemanticError](err); !ok || semantic.JSONPointer != "/version" {
		t.Errorf("a word for a number: %v, want an error at /version", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"version": 1, "root": {"kind": "switch", "name": "s", "seconds": 2e-6, "confidence": 1, "children": [{"kind": "node", "name": "n"}]}, "gaps": ["x"]}`)
	f.Add(`{"version": 1, "root": {"kind": "node"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := topology.Read(strings.NewReader(text), "t.json")
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := tree.Write(&b); err != nil {
			t.Fatalf("%q was read and cannot be written: %v", text, err)
		}
		again, err := topology.Read(&b, "t.json")
		if d := cmp.Diff(tree, again); d != "" || err != nil {
			t.Errorf("%q is another tree when written and read: %v\n%s", text, err, d)
		}
	})
}
