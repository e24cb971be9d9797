package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"tutti/topology"
)

// SlurmTopology is one of the topologies in a topology.yaml.
type SlurmTopology struct {
	Name    string
	Default bool          // used for partitions that name no topology
	Plugin  string        // tree, block, ring, flat or another one
	Tree    topology.Tree // without vertices for flat and other plugins
}

// ReadSlurmYAML reads a topology.yaml. The parameter file is the file's name, for errors. Switches, blocks
// and rings follow the rules of ReadSlurmConf.
func ReadSlurmYAML(r io.Reader, file string) ([]SlurmTopology, error) {
	var doc yaml.Node
	switch err := yaml.NewDecoder(r).Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: empty: want a list of topologies", file)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	y := yamlFile{file: file}
	list, err := y.list(doc.Content[0], "topologies")
	if err != nil {
		return nil, err
	}
	var out []SlurmTopology
	seen := map[string]bool{}
	for _, n := range list {
		t, err := y.topology(n)
		if err != nil {
			return nil, err
		}
		if seen[t.Name] {
			return nil, fault(file, n.Line, "topology %s is there twice", t.Name)
		}
		seen[t.Name] = true
		out = append(out, t)
	}
	return out, nil
}

// yamlFile decodes the YAML nodes of one file.
type yamlFile struct{ file string }

func (y yamlFile) list(n *yaml.Node, of string) ([]*yaml.Node, error) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return nil, fault(y.file, n.Line, "want a list of %s", of)
	}
	return n.Content, nil
}

// mapping returns the values of a YAML mapping by key. A key that is not allowed is an error. If no allowed
// keys are given, every key is allowed.
func (y yamlFile) mapping(n *yaml.Node, allowed ...string) (map[string]*yaml.Node, error) {
	if n.Kind != yaml.MappingNode {
		return nil, fault(y.file, n.Line, "want %s", strings.Join(allowed, ", "))
	}
	out := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if allowed != nil && !slices.Contains(allowed, key.Value) {
			return nil, fault(y.file, key.Line, "%s: want %s", key.Value, strings.Join(allowed, ", "))
		}
		if out[key.Value] != nil {
			return nil, fault(y.file, key.Line, "%s is there twice", key.Value)
		}
		out[key.Value] = value
	}
	return out, nil
}

// text returns the text of a YAML scalar. If the node is missing, it returns "".
func (y yamlFile) text(n *yaml.Node) (string, error) {
	if n == nil {
		return "", nil
	}
	if n.Kind != yaml.ScalarNode {
		return "", fault(y.file, n.Line, "want a word")
	}
	return n.Value, nil
}

func (y yamlFile) topology(n *yaml.Node) (SlurmTopology, error) {
	if n.Kind != yaml.MappingNode {
		return SlurmTopology{}, fault(y.file, n.Line, "want topology, cluster_default and a plugin, such as tree or block")
	}
	keys, err := y.mapping(n)
	if err != nil {
		return SlurmTopology{}, err
	}
	var t SlurmTopology
	if t.Name, err = y.text(keys["topology"]); err != nil {
		return SlurmTopology{}, err
	}
	if t.Name == "" || n.Content[0].Value != "topology" {
		return SlurmTopology{}, fault(y.file, n.Line, "want the key topology with a name first")
	}
	if at := keys["cluster_default"]; at != nil && at.Decode(&t.Default) != nil {
		return SlurmTopology{}, fault(y.file, at.Line, "%q: want true or false", at.Value)
	}
	for i := 0; i < len(n.Content); i += 2 {
		p := n.Content[i].Value
		if p == "topology" || p == "cluster_default" {
			continue
		}
		if t.Plugin != "" {
			return SlurmTopology{}, fault(y.file, n.Line, "topology %s: has %s and %s: want one", t.Name, t.Plugin, p)
		}
		t.Plugin = p
	}
	if t.Plugin == "" {
		return SlurmTopology{}, fault(y.file, n.Line, "topology %s: want a plugin, such as tree or block", t.Name)
	}
	t.Tree, err = y.tree(t, keys[t.Plugin])
	return t, err
}

// tree reads the tree of a topology. The parameter `below` is the YAML node under the key of the plugin.
func (y yamlFile) tree(t SlurmTopology, below *yaml.Node) (topology.Tree, error) {
	switch t.Plugin {
	case "tree":
		return y.entriesTree(treeOf, below, "switches", "switch", "nodes", "children")
	case "ring":
		return y.entriesTree(ringTree, below, "rings", "ring", "nodes")
	case "block":
		return y.blocks(below)
	default:
		return topology.Tree{Gaps: []string{fmt.Sprintf("topology %s is %s: no levels", t.Name, t.Plugin)}}, nil
	}
}

// entriesTree reads the entries under a key of n. It passes them to the function build and returns the tree
// that build returns.
func (y yamlFile) entriesTree(build func([]entry, string) (topology.Tree, error), n *yaml.Node, key string, words ...string) (topology.Tree, error) {
	keys, err := y.mapping(n, key)
	if err != nil {
		return topology.Tree{}, err
	}
	entries, err := y.entries(keys[key], words...)
	if err != nil {
		return topology.Tree{}, err
	}
	return build(entries, y.file)
}

func (y yamlFile) blocks(n *yaml.Node) (topology.Tree, error) {
	keys, err := y.mapping(n, "block_sizes", "blocks")
	if err != nil {
		return topology.Tree{}, err
	}
	entries, err := y.entries(keys["blocks"], "block", "nodes")
	if err != nil {
		return topology.Tree{}, err
	}
	var all []int
	if at := keys["block_sizes"]; at != nil {
		list, err := y.list(at, "block sizes")
		if err != nil {
			return topology.Tree{}, err
		}
		var words []string
		for _, n := range list {
			words = append(words, n.Value)
		}
		if all, err = sizes(words); err != nil {
			return topology.Tree{}, fault(y.file, at.Line, "%w", err)
		}
	}
	return aggregate(entries, all, y.file)
}

// entries reads a list of switches, blocks or rings. It returns nil if the list is empty or missing. The
// parameter keys has the YAML keys for the name, the nodes and, optionally, the children.
func (y yamlFile) entries(n *yaml.Node, keys ...string) ([]entry, error) {
	if n == nil || n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		return nil, nil
	}
	list, err := y.list(n, "entries with "+strings.Join(keys, ", "))
	if err != nil {
		return nil, err
	}
	var out []entry
	for _, n := range list {
		values, err := y.mapping(n, keys...)
		if err != nil {
			return nil, err
		}
		words := make([]string, 3)
		for i, key := range keys {
			if words[i], err = y.text(values[key]); err != nil {
				return nil, err
			}
		}
		e, err := fill(n.Line, words[0], words[1], words[2])
		if err != nil {
			return nil, fault(y.file, n.Line, "%w", err)
		}
		out = append(out, e)
	}
	return out, nil
}

// writeSlurmYAML writes the switches of a tree as the only topology of a topology.yaml.
func writeSlurmYAML(w io.Writer, t *topology.Tree) error {
	b := bytes.NewBufferString("- topology: \"default\"\n  cluster_default: true\n  tree:\n    switches:\n")
	for _, s := range items(t) {
		key, list := "nodes", s.nodes
		if list == "" {
			key, list = "children", s.children
		}
		fmt.Fprintf(b, "    - switch: %q\n      %s: %q\n", s.name, key, list)
	}
	_, err := w.Write(b.Bytes())
	return err
}
