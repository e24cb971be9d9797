package files

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"tutti/internal/lazyregexp"
	"tutti/topology"
)

// entry is a switch, block or ring.
type entry struct {
	line     int
	name     string
	nodes    []string
	switches []string
}

func fault(file string, line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", file, line, fmt.Errorf(format, args...))
}

// ReadSlurmConf reads a topology.conf with switches, blocks or rings. Errors begin with the name `file`.
//
// A switch must have either nodes or switches below it, as in Slurm. Duplicate switches, undefined children and
// cycles are errors. The gaps of the tree list where the network is not a tree. Switches with exactly the same
// child switches, such as the spines of a fat tree, become one vertex. A node or switch below several switches
// is placed below the first of them. Switches and blocks without nodes are omitted. A ring becomes a switch. If
// several switches have no parent, the root has no name.
func ReadSlurmConf(r io.Reader, file string) (topology.Tree, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return topology.Tree{}, fmt.Errorf("%s: %w", file, err)
	}
	var c conf
	for _, l := range lines(string(text)) {
		if err := c.add(l); err != nil {
			return topology.Tree{}, fault(file, l.number, "%w", err)
		}
	}
	return c.tree(file)
}

// confLine is a line of a file without its comment. Continuation lines are joined to it.
type confLine struct {
	number int
	text   string
}

func lines(text string) []confLine {
	var out []confLine
	open := false // the previous line ended in a backslash
	number := 0
	for l := range strings.Lines(text) {
		number++
		l, _, _ = strings.Cut(strings.TrimRight(l, "\r\n"), "#")
		body, more := strings.CutSuffix(strings.TrimRight(l, " \t"), `\`)
		if open {
			out[len(out)-1].text += " " + body
		} else {
			out = append(out, confLine{number: number, text: body})
		}
		open = more
	}
	return slices.DeleteFunc(out, func(l confLine) bool { return strings.TrimSpace(l.text) == "" })
}

type conf struct {
	switches []entry
	blocks   []entry
	rings    []entry
	sizes    []int
}

// tree returns the tree of the entries. It returns an error if there are no entries, or entries of several
// kinds.
func (c *conf) tree(file string) (topology.Tree, error) {
	switch s, b, r := len(c.switches) > 0, len(c.blocks) > 0 || c.sizes != nil, len(c.rings) > 0; {
	case s && b, s && r, b && r:
		return topology.Tree{}, fmt.Errorf("%s: has several of switches, blocks and rings: want one kind", file)
	case s:
		return treeOf(c.switches, file)
	case r:
		return ringTree(c.rings, file)
	case len(c.blocks) > 0:
		return aggregate(c.blocks, c.sizes, file)
	}
	return topology.Tree{}, fmt.Errorf("%s: no SwitchName, no BlockName and no RingName", file)
}

func ringTree(rings []entry, file string) (topology.Tree, error) {
	t, err := treeOf(rings, file)
	t.Gaps = append(t.Gaps, "rings: distances between the nodes of a ring are unknown")
	return t, err
}

func (c *conf) add(l confLine) error {
	values, first, err := settings(l.text)
	if err != nil {
		return err
	}
	if first == "blocksizes" {
		if c.sizes != nil || len(values) > 1 {
			return fmt.Errorf("want one BlockSizes, alone on its line")
		}
		c.sizes, err = sizes(strings.Split(values[first], ","))
		return err
	}
	list, allowed := c.list(first), []string{"nodes"}
	if first == "switchname" {
		allowed = []string{"nodes", "switches", "linkspeed"}
	}
	if list == nil {
		return fmt.Errorf("%s: want a line that begins with SwitchName, BlockName, BlockSizes or RingName", first)
	}
	for key := range values {
		if key != first && !slices.Contains(allowed, key) {
			return fmt.Errorf("%s: want %s", key, strings.Join(allowed, ", "))
		}
	}
	e, err := fill(l.number, values[first], values["nodes"], values["switches"])
	*list = append(*list, e)
	return err
}

// list returns the list of entries to which a line belongs, by the first key of the line. It returns nil for any other
// line.
func (c *conf) list(first string) *[]entry {
	return map[string]*[]entry{"switchname": &c.switches, "blockname": &c.blocks, "ringname": &c.rings}[first]
}

var aroundEqual = lazyregexp.New(`\s*=\s*`)

// settings parses a line of key=value pairs. It returns the values by key, and the first key. Keys are in
// lower case.
func settings(text string) (values map[string]string, first string, err error) {
	values = map[string]string{}
	for _, word := range strings.Fields(aroundEqual.ReplaceAllString(text, "=")) {
		key, value, found := strings.Cut(word, "=")
		key, value = strings.ToLower(key), strings.Trim(value, `"`)
		if !found || value == "" {
			return nil, "", fmt.Errorf("%q: want key=value", word)
		}
		if _, twice := values[key]; twice {
			return nil, "", fmt.Errorf("%s is there twice", key)
		}
		if len(values) == 0 {
			first = key
		}
		values[key] = value
	}
	return values, first, nil
}

// fill creates an entry from the values of a line. If `nodes` or `switches` is empty, the entry has no children of that
// kind.
func fill(line int, name, nodes, switches string) (entry, error) {
	e := entry{line: line, name: name}
	if names, err := topology.Hosts(name); err != nil || len(names) != 1 || names[0] != name {
		return entry{}, fmt.Errorf("name %q: want letters, digits and ._-", name)
	}
	var err error
	switch {
	case nodes != "" && switches != "":
		err = errors.New("want either nodes or switches")
	case strings.EqualFold(nodes, "ALL"):
		err = fmt.Errorf("nodes %s: want their names, as scontrol show topology prints them", nodes)
	case nodes != "":
		e.nodes, err = topology.Hosts(nodes)
	case switches != "":
		e.switches, err = topology.Hosts(switches)
	}
	if err != nil {
		return entry{}, fmt.Errorf("%s: %w", name, err)
	}
	return e, nil
}

// ReadSlurmShow reads the output of scontrol show topology, and ignores lines that do not describe a switch,
// block or ring. Errors begin with the name `file`. If Slurm has no topology, it prints only a message, and the
// tree is empty.
func ReadSlurmShow(r io.Reader, file string) (topology.Tree, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return topology.Tree{}, fmt.Errorf("%s: %w", file, err)
	}
	var c conf
	var blockSizes []string
	for _, l := range lines(string(text)) {
		values, first := printed(l.text)
		if size := values["blocksize"]; size != "" && !slices.Contains(blockSizes, size) {
			blockSizes = append(blockSizes, size) // lines with AggregatedBlock have a size, too
		}
		list := c.list(first)
		if list == nil {
			continue
		}
		nodes := values["nodes"]
		if values["switches"] != "" {
			nodes = "" // for switches above switches, Slurm prints all nodes below them, too
		}
		e, err := fill(l.number, values[first], nodes, values["switches"])
		if err != nil {
			return topology.Tree{}, fault(file, l.number, "%w", err)
		}
		*list = append(*list, e)
	}
	if len(c.switches)+len(c.blocks)+len(c.rings) == 0 {
		return topology.Tree{}, nil
	}
	if c.sizes, err = sizes(blockSizes); err != nil {
		return topology.Tree{}, fmt.Errorf("%s: %w", file, err)
	}
	return c.tree(file)
}

// printed parses a line of key=value pairs that Slurm printed. It returns the values by key, and the first
// key. Keys are in lower case. It ignores words without a value.
func printed(line string) (values map[string]string, first string) {
	values = map[string]string{}
	for word := range strings.FieldsSeq(line) {
		key, value, _ := strings.Cut(word, "=")
		key = strings.ToLower(key)
		first = cmp.Or(first, key)
		if value != "" {
			values[key] = value
		}
	}
	return values, first
}

// entries returns the switches of a tree in the form of Slurm's topology/tree, children before their parents.
// Slurm does not allow a switch to have both nodes and switches below it. The nodes of such a switch therefore
// get a switch of their own, which is named after it. The parts inside nodes are omitted.
func entries(t *topology.Tree) []entry {
	taken := map[string]bool{}
	for v := range t.All() {
		taken[v.Name] = true
	}
	var out []entry
	for v := range t.All() {
		if v.Kind != topology.Switch {
			continue
		}
		nodes := v.DirectNodes()
		var switches []string
		for _, c := range v.Children {
			if c.Kind == topology.Switch {
				switches = append(switches, c.Name)
			}
		}
		if len(nodes) > 0 && (len(switches) > 0 || v.Name == "") {
			own := v.Name + "-nodes"
			for taken[own] {
				own += "-nodes"
			}
			taken[own] = true
			out = append(out, entry{name: strings.TrimPrefix(own, "-"), nodes: nodes})
			switches, nodes = append(switches, strings.TrimPrefix(own, "-")), nil
		}
		if v.Name != "" {
			out = append(out, entry{name: v.Name, switches: switches, nodes: nodes})
		}
	}
	return out
}

func writeSlurmConf(w io.Writer, t *topology.Tree) error {
	var b strings.Builder
	for _, e := range entries(t) {
		if e.nodes != nil {
			fmt.Fprintf(&b, "SwitchName=%s Nodes=%s\n", e.name, topology.HostList(e.nodes))
		} else {
			fmt.Fprintf(&b, "SwitchName=%s Switches=%s\n", e.name, topology.HostList(e.switches))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
