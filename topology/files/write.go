package files

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"tutti/topology"
)

// Format is a file format in which Write writes a tree.
type Format string

// Formats of Write.
const (
	JSON   Format = "json"   // topology.json of tutti: the complete tree
	Tree   Format = "tree"   // topology.conf of Slurm's topology/tree
	Blocks Format = "blocks" // topology.conf of Slurm's topology/block
	YAML   Format = "yaml"   // topology.yaml of Slurm, with topology/tree
	MPICH  Format = "mpich"  // coordinates for MPIR_CVAR_COORDINATES_FILE

	Runtime  Format = "runtime"  // file for TUTTI_TOPOLOGY of the runtime library
	Switches Format = "switches" // runner.switches of a campaign file
)

// Formats returns all formats. The first one is JSON.
func Formats() []Format { return []Format{JSON, Tree, Blocks, YAML, MPICH, Runtime, Switches} }

// WriteOptions say in which format Write writes a tree.
type WriteOptions struct {
	Format Format
	Nodes  []string // for MPICH: the node of each rank
}

// Write writes a tree. The result `gaps` lists what the format cannot express. Write returns an error if the
// tree does not pass Check.
func Write(w io.Writer, t *topology.Tree, opt WriteOptions) (gaps []string, err error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if opt.Format != JSON && len(t.Switches()) == 0 {
		return nil, fmt.Errorf("%w: no switch with nodes to write", topology.ErrTree)
	}
	switch opt.Format {
	case JSON:
		return nil, t.Write(w)
	case Tree:
		return nil, writeSlurmConf(w, t)
	case Blocks:
		return writeSlurmBlocks(w, t)
	case YAML:
		return nil, writeSlurmYAML(w, t)
	case MPICH:
		return nil, writeMPICH(w, t, opt.Nodes)
	case Runtime:
		return nil, writeRuntime(w, t)
	case Switches:
		return nil, writeSwitches(w, t)
	}
	return nil, fmt.Errorf("format %q: want one of %q", opt.Format, Formats())
}

func writeSwitches(w io.Writer, t *topology.Tree) error {
	var lists []string
	for _, nodes := range t.Switches() {
		lists = append(lists, topology.HostList(nodes))
	}
	return json.NewEncoder(w).Encode(lists)
}

// writeRuntime writes a line for each node. A line has the name of the node and the switches above it, from
// the outermost to the innermost. All lines have the same number of switches. If there are fewer switches
// above a node, the innermost one is repeated.
func writeRuntime(w io.Writer, t *topology.Tree) error {
	var lines [][]string
	longest := 0
	var walk func(v *topology.Vertex, above []string)
	walk = func(v *topology.Vertex, above []string) {
		if v.Kind == topology.Node {
			lines = append(lines, append([]string{v.Name}, above...))
			longest = max(longest, len(above)+1)
			return
		}
		if v.Kind == topology.Switch && v.Name != "" {
			above = append(slices.Clip(above), v.Name)
		}
		for i := range v.Children {
			walk(&v.Children[i], above)
		}
	}
	walk(&t.Root, nil)
	b := bytes.NewBufferString("tutti-topology 1\n")
	for _, words := range lines {
		for len(words) < longest {
			words = append(words, words[len(words)-1])
		}
		fmt.Fprintln(b, strings.Join(words, " "))
	}
	_, err := w.Write(b.Bytes())
	return err
}
