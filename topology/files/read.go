package files

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"tutti/topology"
	"tutti/topology/discover"
)

// ReadOptions are of some formats only.
type ReadOptions struct {
	Topology string // of a topology.yaml: the one of that name; else the default one, or the only one
}

// readers by the ending of a file's name.
var readers = map[string]func(r io.Reader, name string, opt ReadOptions) (topology.Tree, error){
	".json": plain(topology.Read),
	".conf": plain(ReadSlurmConf),
	".yaml": readYAML,
	".yml":  readYAML,
	".txt":  plain(ReadSlurmShow),
	".xml":  plain(readNode),
	".csv":  plain(readPairs),
}

func plain(read func(r io.Reader, name string) (topology.Tree, error)) func(io.Reader, string, ReadOptions) (topology.Tree, error) {
	return func(r io.Reader, name string, _ ReadOptions) (topology.Tree, error) { return read(r, name) }
}

// Read reads a tree. The ending of the file's name says what it is: topology.json (.json),
// Slurm's topology.conf (.conf) and topology.yaml (.yaml, .yml), what scontrol show
// topology prints (.txt), hwloc's XML of one node (.xml), or what was measured of pairs of
// nodes, from which the tree is found (.csv, as suspect.Read reads it). The name stands
// in errors.
//
// It returns an error for another ending, a file that says nothing, and what the readers
// of the formats refuse.
func Read(r io.Reader, name string, opt ReadOptions) (topology.Tree, error) {
	read, known := readers[strings.ToLower(filepath.Ext(name))]
	if !known {
		return topology.Tree{}, fmt.Errorf("%s: want a name that ends in .json, .conf, .yaml, .yml, .txt, .xml or .csv", name)
	}
	t, err := read(r, name, opt)
	if err == nil && len(t.Root.Children) == 0 {
		err = fmt.Errorf("%s: no switches and no nodes", name)
	}
	return t, err
}

// readNode returns the tree of one node, named after the file when its host is not known.
func readNode(r io.Reader, name string) (topology.Tree, error) {
	base := filepath.Base(name)
	node, err := ReadHwloc(r, name, strings.TrimSuffix(base, filepath.Ext(base)))
	return topology.Tree{Root: node}, err
}

func readYAML(r io.Reader, name string, opt ReadOptions) (topology.Tree, error) {
	all, err := ReadSlurmYAML(r, name)
	if err != nil {
		return topology.Tree{}, err
	}
	at := slices.IndexFunc(all, func(t SlurmTopology) bool {
		return t.Name == opt.Topology || opt.Topology == "" && (t.Default || len(all) == 1)
	})
	if at < 0 {
		var names []string
		for _, t := range all {
			names = append(names, t.Name)
		}
		return topology.Tree{}, fmt.Errorf("%s: topology %q: want one of %s", name, opt.Topology, strings.Join(names, ", "))
	}
	if all[at].Plugin == FlatPlugin {
		return topology.Tree{}, fmt.Errorf("%s: topology %s is flat: it names no nodes", name, all[at].Name)
	}
	return all[at].Tree, nil
}

// readPairs finds the tree of the nodes that pairs were measured of. Members in errors
// are nodes, counted from 0 in the order of the file.
func readPairs(r io.Reader, name string) (topology.Tree, error) {
	pairs, err := discover.ReadPairs(r, name)
	if err != nil {
		return topology.Tree{}, err
	}
	found, nodes, err := discover.FindPairLevels(pairs)
	if err != nil {
		return topology.Tree{}, fmt.Errorf("%s: %w", name, err)
	}
	return found.Tree(nodes)
}
