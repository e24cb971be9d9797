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
	golden := testutil.GoldenErrors(t)
	const tree = "- topology: a\n  tree:\n    switches:\n"
	tests := []struct{ name, text string }{
		{"nothing", ""},
		{"no YAML", "- ["},
		{"no list", "topology: a\n"},
		{"an empty list", "[]\n"},
		{"a word", "- a\n"},
		{"a key twice", "- topology: a\n  flat: true\n  flat: true\n"},
		{"the name not first", "- flat: true\n  topology: a\n"},
		{"a list for a name", "- topology: [a]\n"},
		{"a default that is none", "- topology: a\n  cluster_default: perhaps\n"},
		{"no plugin", "- topology: a\n"},
		{"two plugins", "- topology: a\n  flat: true\n  tree:\n    switches: []\n"},
		{"two of one name", "- topology: a\n  flat: true\n- topology: a\n  flat: true\n"},
		{"a tree that is a word", "- topology: a\n  tree: x\n"},
		{"another key of a switch", tree + "    - name: s\n"},
		{"a list of nodes", tree + "    - switch: s\n      nodes: [n1]\n"},
		{"a broken list", tree + "    - switch: s\n      nodes: n[1-\n"},
		{"a circle", tree + "    - switch: s\n      children: s\n"},
		{"another key of blocks", "- topology: a\n  block:\n    sizes: [4]\n"},
		{"sizes that are none", "- topology: a\n  block:\n    block_sizes: [x]\n    blocks:\n    - block: b\n      nodes: n1\n"},
		{"sizes that are no list", "- topology: a\n  block:\n    block_sizes: 4\n    blocks:\n    - block: b\n      nodes: n1\n"},
	}
	for _, tc := range tests {
		_, err := files.ReadSlurmYAML(strings.NewReader(tc.text), "t.yaml")
		golden(tc.name, err)
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
