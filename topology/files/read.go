package files

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"tutti/internal/infile"
	"tutti/topology"
	"tutti/topology/discover"
)

// MaxBytes is the largest size of a topology file that is read, in bytes.
const MaxBytes = 1 << 26

// ReadFile opens a file and reads a tree from it; see Read.
func ReadFile(path, topologyName string) (topology.Tree, error) {
	f, err := infile.Open(path, MaxBytes)
	if err != nil {
		return topology.Tree{}, err
	}
	defer f.Close()
	return Read(f, path, topologyName)
}

var readers = map[string]func(r io.Reader, name, topologyName string) (topology.Tree, error){
	".json": plain(readJSON),
	".conf": plain(ReadSlurmConf),
	".yaml": readYAML,
	".yml":  readYAML,
	".txt":  plain(ReadSlurmShow),
	".xml":  plain(readNode),
	".csv":  plain(readPairs),
}

func plain(read func(r io.Reader, name string) (topology.Tree, error)) func(io.Reader, string, string) (topology.Tree, error) {
	return func(r io.Reader, name, _ string) (topology.Tree, error) { return read(r, name) }
}

// Read reads a tree from a file, in the format of its extension:
//
//	.json        topology.json of tutti, or PLogP parameters of pairs of ranks, as discover.ReadParameters reads them
//	.conf        topology.conf of Slurm
//	.yaml, .yml  topology.yaml of Slurm
//	.txt         output of scontrol show topology
//	.xml         hwloc's XML of one node
//	.csv         measured pairs of nodes, as discover.ReadPairs reads them
//
// `topologyName` selects a topology of a topology.yaml; if it is "", Read takes the file's default, or
// its only one. Errors begin with the file's name. Read returns the errors of the format's reader. It also returns an error
// if the extension is unknown or the file is empty. If the tree has no vertices, its gaps say why.
func Read(r io.Reader, name, topologyName string) (topology.Tree, error) {
	read, known := readers[strings.ToLower(filepath.Ext(name))]
	if !known {
		return topology.Tree{}, fmt.Errorf("%s: want a name that ends in .json, .conf, .yaml, .yml, .txt, .xml or .csv", name)
	}
	t, err := read(infile.SkipByteOrderMark(r), name, topologyName)
	if err == nil && len(t.Root.Children) == 0 && len(t.Gaps) == 0 {
		err = fmt.Errorf("%s: no switches and no nodes", name)
	}
	return t, err
}

// readNode returns the tree of one node. If the file has no host name, the node gets the name of the file.
func readNode(r io.Reader, name string) (topology.Tree, error) {
	base := filepath.Base(name)
	node, err := ReadHwloc(r, name, strings.TrimSuffix(base, filepath.Ext(base)))
	return topology.Tree{Root: node}, err
}

func readYAML(r io.Reader, name, topologyName string) (topology.Tree, error) {
	all, err := ReadSlurmYAML(r, name)
	if err != nil {
		return topology.Tree{}, err
	}
	at := slices.IndexFunc(all, func(t SlurmTopology) bool {
		return t.Name == topologyName || topologyName == "" && (t.Default || len(all) == 1)
	})
	if at < 0 {
		var names []string
		for _, t := range all {
			names = append(names, t.Name)
		}
		return topology.Tree{}, fmt.Errorf("%s: topology %q: want one of %s", name, topologyName, strings.Join(names, ", "))
	}
	return all[at].Tree, nil
}

func readPairs(r io.Reader, name string) (topology.Tree, error) {
	pairs, err := discover.ReadPairs(r, name)
	if err != nil {
		return topology.Tree{}, err
	}
	return discover.PairTree(pairs, name)
}

// ReadPairs reads the times of pairs from a file .csv or from one with PLogP parameters; see discover.ReadPairs. It returns
// nil for a file of another kind.
func ReadPairs(path string) ([]discover.PairTime, error) {
	f, err := infile.Open(path, MaxBytes)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text := bufio.NewReader(f)
	if strings.ToLower(filepath.Ext(path)) != ".csv" && !hasParameters(text) {
		return nil, nil
	}
	return discover.ReadPairs(text, path)
}

// hasParameters reports whether a text begins like a file of PLogP parameters.
func hasParameters(text *bufio.Reader) bool {
	first, err := text.Peek(1)
	return err == nil && first[0] == '['
}

// readJSON reads a topology, or one from PLogP parameters.
func readJSON(r io.Reader, name string) (topology.Tree, error) {
	text := bufio.NewReader(r)
	if hasParameters(text) {
		return readPairs(text, name)
	}
	return topology.Read(text, name)
}
