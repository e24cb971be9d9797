package slurm

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"tutti/topology"
)

// ReadShow reads what scontrol show topology prints; file stands in errors. Lines that
// describe no switch and no block are passed over: without a topology Slurm prints a
// message, and the tree is empty then.
func ReadShow(r io.Reader, file string) (topology.Tree, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return topology.Tree{}, fmt.Errorf("%s: %w", file, err)
	}
	var switches, blocks []entry
	var blockSizes []string
	for _, l := range lines(string(text)) {
		values, first := printed(l.text)
		if size := values["blocksize"]; size != "" && !slices.Contains(blockSizes, size) {
			blockSizes = append(blockSizes, size) // also of lines that begin with AggregatedBlock
		}
		if first != "switchname" && first != "blockname" {
			continue
		}
		nodes := values["nodes"]
		if values["switches"] != "" {
			nodes = "" // Slurm prints the nodes of all switches below, too
		}
		e, err := fill(l.number, values[first], nodes, values["switches"])
		if err != nil {
			return topology.Tree{}, fault(file, l.number, "%w", err)
		}
		if first == "switchname" {
			switches = append(switches, e)
		} else {
			blocks = append(blocks, e)
		}
	}
	switch {
	case len(switches) > 0:
		return assemble(switches, file)
	case len(blocks) > 0:
		all, err := sizes(blockSizes)
		if err != nil {
			return topology.Tree{}, fmt.Errorf("%s: %w", file, err)
		}
		return aggregate(blocks, all, file)
	default:
		return topology.Tree{}, nil
	}
}

// LeafSwitches returns the nodes of each leaf switch in what scontrol show topology
// prints. It looks at nothing else, so that a network which is no tree has leaves, too.
func LeafSwitches(text string) ([][]string, error) {
	var out [][]string
	for line := range strings.Lines(text) {
		values, first := printed(line)
		if first != "switchname" || values["level"] != "0" || values["nodes"] == "" {
			continue
		}
		names, err := topology.Hosts(values["nodes"])
		if err != nil {
			return nil, fmt.Errorf("switch %s: %w", values[first], err)
		}
		out = append(out, names)
	}
	return out, nil
}

// printed returns the key=value pairs of a line, keys in lower case, and its first key.
// Words without a value are passed over.
func printed(line string) (values map[string]string, first string) {
	values = map[string]string{}
	for word := range strings.FieldsSeq(line) {
		key, value, _ := strings.Cut(word, "=")
		key = strings.ToLower(key)
		if first == "" {
			first = key
		}
		if value != "" {
			values[key] = value
		}
	}
	return values, first
}
