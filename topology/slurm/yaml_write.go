package slurm

import (
	"fmt"
	"io"
	"strings"

	"tutti/topology"
)

// WriteYAML writes topologies as a topology.yaml. Trees must pass Check; gaps says what
// could not be kept of blocks, as WriteBlocks does.
func WriteYAML(w io.Writer, topologies []Topology) (gaps []string, err error) {
	var b strings.Builder
	for _, t := range topologies {
		fmt.Fprintf(&b, "- topology: %q\n  cluster_default: %t\n", t.Name, t.Default)
		more, err := t.write(&b)
		if err != nil {
			return nil, fmt.Errorf("topology %s: %w", t.Name, err)
		}
		gaps = append(gaps, more...)
	}
	_, err = io.WriteString(w, b.String())
	return gaps, err
}

// write writes what lies below the key of the plugin.
func (t *Topology) write(b *strings.Builder) (gaps []string, err error) {
	if t.Plugin == FlatPlugin {
		b.WriteString("  flat: true\n")
		return nil, nil
	}
	if err := t.Tree.Check(); err != nil {
		return nil, err
	}
	switch t.Plugin {
	case TreePlugin:
		b.WriteString("  tree:\n    switches:\n")
		for _, s := range items(&t.Tree) {
			fmt.Fprintf(b, "    - switch: %q\n", s.name)
			if s.nodes != "" {
				fmt.Fprintf(b, "      nodes: %q\n", s.nodes)
			} else {
				fmt.Fprintf(b, "      children: %q\n", s.children)
			}
		}
		return nil, nil
	case BlockPlugin:
		blocks, gaps := blocksOf(&t.Tree)
		if len(blocks) == 0 {
			return nil, fmt.Errorf("%w: no nodes to make blocks of", topology.ErrTree)
		}
		all, more := blockSizes(&t.Tree, blocks)
		b.WriteString("  block:\n    block_sizes:\n")
		for _, size := range all {
			fmt.Fprintf(b, "    - %d\n", size)
		}
		b.WriteString("    blocks:\n")
		for _, block := range blocks {
			fmt.Fprintf(b, "    - block: %q\n      nodes: %q\n", block.name, topology.HostList(block.nodes))
		}
		return append(gaps, more...), nil
	default:
		return nil, fmt.Errorf("plugin %q: want %s, %s or %s", t.Plugin, TreePlugin, BlockPlugin, FlatPlugin)
	}
}
