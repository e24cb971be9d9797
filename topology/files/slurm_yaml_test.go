package files_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/testutil"
	"tutti/topology/files"
)

// manual is the example of the manual page topology.yaml(5) of Slurm 25.05, with topologies of later releases.
const manual = `- topology: topo1
  cluster_default: True
  tree:
    switches:
    - switch: sw_root
      nodes: node[01-04]
- topology: topo2
  cluster_default: False
  block:
    block_sizes:
      - 4
      - 16
    blocks:
    - block: b1
      nodes: node[01-04]
    - block: b2
      nodes: node[05-08]
    - block: b3
      nodes: node[09-12]
    - block: b4
      nodes: node[13-16]
- topology: topo3
  cluster_default: False
  flat: True
- topology: topo3a
  flat:
    alpha_step_rank: true
- topology: topo4
  ring:
    rings:
      - ring: ring0
        nodes: node[01-08]
- topology: topo5
  torus3d:
    toruses:
      - name: pod1
        nodes: node[01-32]
- topology: topo6
  block:
    blocks:
      - block: dynamic
- topology: topo7
  tree:
    switches: []
`

func TestReadYAML(t *testing.T) {
	got := testutil.Must(files.ReadSlurmYAML(strings.NewReader(manual), "topology.yaml"))(t)
	var words []string
	for _, p := range got {
		s := p.Name + " " + p.Plugin + " " + outline(p.Tree.Root)
		if p.Default {
			s += " default"
		}
		for _, gap := range p.Tree.Gaps {
			s += " " + gap
		}
		words = append(words, s)
	}
	want := []string{
		"topo1 tree sw_root(node[01-04]) default",
		"topo2 block (b1(node[01-04]) b2(node[05-08]) b3(node[09-12]) b4(node[13-16]))",
		"topo3 flat () topology topo3 is flat: no levels",
		"topo3a flat () topology topo3a is flat: no levels",
		"topo4 ring ring0(node[01-08]) rings: distances between the nodes of a ring are unknown",
		"topo5 torus3d () topology topo5 is torus3d: no levels",
		"topo6 block () no nodes",
		"topo7 tree () no nodes",
	}
	if d := cmp.Diff(want, words); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestReadYAMLRefuses(t *testing.T) {
	const tree = "- topology: a\n  tree:\n    switches:\n"
	tests := []struct{ name, text, want string }{
		{"nothing", "", "t.yaml: empty: want a list of topologies"},
		{"no YAML", "- [", "t.yaml: yaml: line 1"},
		{"no list", "topology: a\n", "t.yaml:1: want a list of topologies"},
		{"an empty list", "[]\n", "t.yaml:1: want a list of topologies"},
		{"a word", "- a\n", "t.yaml:1: want topology, cluster_default and a plugin"},
		{"a key twice", "- topology: a\n  flat: true\n  flat: true\n", "t.yaml:3: flat is there twice"},
		{"the name not first", "- flat: true\n  topology: a\n", "t.yaml:1: want the key topology with a name first"},
		{"a list for a name", "- topology: [a]\n", "t.yaml:1: want a word"},
		{"a default that is none", "- topology: a\n  cluster_default: perhaps\n", `t.yaml:2: "perhaps": want true or false`},
		{"no plugin", "- topology: a\n", "t.yaml:1: topology a: want a plugin, such as tree or block"},
		{"two plugins", "- topology: a\n  flat: true\n  tree:\n    switches: []\n", "t.yaml:1: topology a: has flat and tree: want one"},
		{"two of one name", "- topology: a\n  flat: true\n- topology: a\n  flat: true\n", "t.yaml:3: topology a is there twice"},
		{"a tree that is a word", "- topology: a\n  tree: x\n", "t.yaml:2: want switches"},
		{"another key of a switch", tree + "    - name: s\n", "t.yaml:4: name: want switch, nodes, children"},
		{"a list of nodes", tree + "    - switch: s\n      nodes: [n1]\n", "t.yaml:5: want a word"},
		{"a broken list", tree + "    - switch: s\n      nodes: n[1-\n", `t.yaml:4: s: list of nodes`},
		{"a circle", tree + "    - switch: s\n      children: s\n", "t.yaml:4: switch s lies below itself"},
		{"another key of blocks", "- topology: a\n  block:\n    sizes: [4]\n", "t.yaml:3: sizes: want block_sizes, blocks"},
		{"sizes that are none", "- topology: a\n  block:\n    block_sizes: [x]\n    blocks:\n    - block: b\n      nodes: n1\n", `t.yaml:3: block size "x"`},
		{"sizes that are no list", "- topology: a\n  block:\n    block_sizes: 4\n    blocks:\n    - block: b\n      nodes: n1\n", "t.yaml:3: want a list of block sizes"},
	}
	for _, tc := range tests {
		if _, err := files.ReadSlurmYAML(strings.NewReader(tc.text), "t.yaml"); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

func FuzzReadYAML(f *testing.F) {
	f.Add(manual)
	f.Add("- topology: a\n  tree: &x\n    switches: [{switch: s, children: t}, {switch: t, nodes: n1}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := files.ReadSlurmYAML(strings.NewReader(text), "t.yaml")
		if err != nil {
			return
		}
		for _, p := range got {
			if len(p.Tree.Switches()) == 0 {
				continue
			}
			text, _ := write(t, &p.Tree, files.WriteOptions{Format: files.YAML})
			if got, want := outline(read(t, text, "a.yaml").Root), outline(p.Tree.Root); got != want {
				t.Errorf("%q is read back as %s, want %s", text, got, want)
			}
		}
	})
}
