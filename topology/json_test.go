package topology_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/testutil"
	"tutti/topology"
)

func TestWriteAndRead(t *testing.T) {
	tree := pods()
	tree.Gaps = []string{"n9 was never measured"}
	tree.Root.Children[0].Confidence = 0.96875
	var b bytes.Buffer
	if err := tree.Write(&b); err != nil {
		t.Fatal(err)
	}
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
	tests := []struct{ name, text, want string }{
		{"nothing", "", "t.json:1: EOF"},
		{"a key it does not know", "{\"version\": 1,\n\"colour\": 1}", `t.json:2: json: unknown field "colour"`},
		{"the same inside", "{\"version\": 1,\n\"root\": {\n\"cables\": 4,\n\"name\": \"s\"}\n}", `t.json:3: json: unknown field "cables"`},
		{"broken", "{\"version\": 1,\n\n\"root\": ]", "t.json:3: invalid character"},
		{"a word for a number", "{\"version\":\n\"one\"}", "t.json:2: json: cannot unmarshal string"},
		{"another version", `{"version": 2, "root": {"kind": "node", "name": "n"}}`, "version 2: want 1"},
		{"something behind", `{"version": 1, "root": {"kind": "node", "name": "n"}} {}`, "t.json:1: want nothing behind the tree"},
		{"no tree", `{"version": 1, "root": {"kind": "switch", "name": "s"}}`, "t.json: not a tree of a machine: switch s: has nothing below it"},
	}
	for _, tc := range tests {
		if _, err := topology.Read(strings.NewReader(tc.text), "t.json"); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
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
