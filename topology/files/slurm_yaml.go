package files

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"tutti/topology"
)

// SlurmTopology is one of the topologies that Slurm's file topology.yaml defines.
type SlurmTopology struct {
	Name    string
	Default bool          // used for partitions that name no topology
	Plugin  string        // tree, block, ring, flat or another one
	Tree    topology.Tree // without vertices for flat and other plugins
}

// ReadSlurmYAML reads the topologies in a file topology.yaml. Errors begin with `file`, the name of this file.
// Switches, blocks and rings are read in the same way as by ReadSlurmConf.
func ReadSlurmYAML(r io.Reader, file string) ([]SlurmTopology, error) {
	var doc yaml.Node
	switch err := yaml.NewDecoder(r).Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: empty: want a list of topologies", file)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	y := &yamlFile{file: file}
	var out []SlurmTopology
	seen := map[string]bool{}
	for _, n := range y.list(doc.Content[0], "topologies") {
		t := y.topology(n)
		if seen[t.Name] {
			y.fail(n, "topology %s is there twice", t.Name)
		}
		seen[t.Name] = true
		out = append(out, t)
	}
	if y.err != nil {
		return nil, y.err
	}
	return out, nil
}

// yamlFile decodes the YAML nodes of one file. It keeps the first error.
type yamlFile struct {
	file string
	err  error
}

func (y *yamlFile) fail(n *yaml.Node, format string, args ...any) {
	if y.err == nil {
		y.err = fault(y.file, n.Line, format, args...)
	}
}

func (y *yamlFile) list(n *yaml.Node, of string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		y.fail(n, "want a list of %s", of)
		return nil
	}
	return n.Content
}

// mapping returns the values of a YAML mapping by key. A key that is not allowed is an error. If no allowed
// keys are given, every key is allowed.
func (y *yamlFile) mapping(n *yaml.Node, allowed ...string) map[string]*yaml.Node {
	out := map[string]*yaml.Node{}
	if n.Kind != yaml.MappingNode {
		y.fail(n, "want %s", strings.Join(allowed, ", "))
		return out
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if allowed != nil && !slices.Contains(allowed, key.Value) {
			y.fail(key, "%s: want %s", key.Value, strings.Join(allowed, ", "))
		}
		if out[key.Value] != nil {
			y.fail(key, "%s is there twice", key.Value)
		}
		out[key.Value] = value
	}
	return out
}

func (y *yamlFile) text(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode {
		y.fail(n, "want a word")
	}
	return n.Value
}

func (y *yamlFile) topology(n *yaml.Node) (t SlurmTopology) {
	if n.Kind != yaml.MappingNode {
		y.fail(n, "want topology, cluster_default and a plugin, such as tree or block")
		return t
	}
	keys := y.mapping(n)
	if t.Name = y.text(keys["topology"]); t.Name == "" || n.Content[0].Value != "topology" {
		y.fail(n, "want the key topology with a name first")
	}
	if at := keys["cluster_default"]; at != nil && at.Decode(&t.Default) != nil {
		y.fail(at, "%q: want true or false", at.Value)
	}
	for i := 0; i < len(n.Content); i += 2 {
		switch p := n.Content[i].Value; {
		case p == "topology" || p == "cluster_default":
		case t.Plugin != "":
			y.fail(n, "topology %s: has %s and %s: want one", t.Name, t.Plugin, p)
		default:
			t.Plugin = p
		}
	}
	if t.Plugin == "" {
		y.fail(n, "topology %s: want a plugin, such as tree or block", t.Name)
	}
	if y.err == nil {
		tree, err := y.tree(t, keys[t.Plugin])
		t.Tree, y.err = tree, cmp.Or(y.err, err)
	}
	return t
}

// tree reads one topology as a tree. `below` is the YAML node with the topology's switches, rings or
// blocks.
func (y *yamlFile) tree(t SlurmTopology, below *yaml.Node) (topology.Tree, error) {
	switch t.Plugin {
	case "tree":
		return treeOf(y.entries(y.mapping(below, "switches")["switches"], "switch", "nodes", "children"), y.file)
	case "ring":
		return ringTree(y.entries(y.mapping(below, "rings")["rings"], "ring", "nodes"), y.file)
	case "block":
		keys := y.mapping(below, "block_sizes", "blocks")
		return aggregate(y.entries(keys["blocks"], "block", "nodes"), y.sizes(keys["block_sizes"]), y.file)
	}
	return topology.Tree{Gaps: []string{fmt.Sprintf("topology %s is %s: no levels", t.Name, t.Plugin)}}, nil
}

func (y *yamlFile) sizes(n *yaml.Node) []int {
	if n == nil {
		return nil
	}
	var words []string
	for _, word := range y.list(n, "block sizes") {
		words = append(words, word.Value)
	}
	all, err := sizes(words)
	if err != nil {
		y.fail(n, "%w", err)
	}
	return all
}

// entries reads a list of switches, blocks or rings. It returns nil if the list is empty or missing. The
// parameter `keys` lists the YAML keys for the name, the nodes and, optionally, the children.
func (y *yamlFile) entries(n *yaml.Node, keys ...string) []entry {
	if n == nil || n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		return nil
	}
	var out []entry
	for _, n := range y.list(n, "entries with "+strings.Join(keys, ", ")) {
		values := y.mapping(n, keys...)
		words := make([]string, 3)
		for i, key := range keys {
			words[i] = y.text(values[key])
		}
		e, err := fill(n.Line, words[0], words[1], words[2])
		if err != nil {
			y.fail(n, "%w", err)
		}
		out = append(out, e)
	}
	return out
}

func writeSlurmYAML(w io.Writer, t *topology.Tree) error {
	b := bytes.NewBufferString("- topology: \"default\"\n  cluster_default: true\n  tree:\n    switches:\n")
	for _, e := range entries(t) {
		key, list := "nodes", e.nodes
		if list == nil {
			key, list = "children", e.switches
		}
		fmt.Fprintf(b, "    - switch: %q\n      %s: %q\n", e.name, key, topology.HostList(list))
	}
	_, err := w.Write(b.Bytes())
	return err
}
