package mpich

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"tutti/internal/lazyregexp"
)

// treeObject is a JSON object whose keys keep their order. It holds the alternatives of a selection tree,
// which MPICH tries in this order. Every value is again an object.
type treeObject []treeMember

type treeMember struct {
	Key   string
	Value treeObject
}

// The keys of a tree that do not express conditions.
const (
	collectiveKey  = "collective="
	leafKey        = "algorithm="   // of the trees of point-to-point algorithms
	compositionKey = "composition=" // of the device's tree
)

// isLeaf reports whether a key names an algorithm or a composition (plan of the ch4 device). Other keys are
// conditions.
func isLeaf(key string) bool {
	return strings.HasPrefix(key, leafKey) || strings.HasPrefix(key, compositionKey)
}

var errTreeSyntax = errors.New("not a selection tree")

// maxTreeDepth is the largest accepted depth of a selection tree. MPICH's own tree has depth 9.
const maxTreeDepth = 64

func (o treeObject) Get(key string) (treeObject, bool) {
	for _, m := range o {
		if m.Key == key {
			return m.Value, true
		}
	}
	return nil, false
}

// With returns a copy in which the key has the given value. A new key is appended.
func (o treeObject) With(key string, value treeObject) treeObject {
	out := append(treeObject(nil), o...)
	for i := range out {
		if out[i].Key == key {
			out[i].Value = value
			return out
		}
	}
	return append(out, treeMember{key, value})
}

// Bytes returns the tree as JSON, with each condition on its own line.
func (o treeObject) Bytes() []byte {
	var b strings.Builder
	o.write(&b, 0, false)
	b.WriteByte('\n')
	return []byte(b.String())
}

// write writes the object as JSON, indented by its depth. An empty object is on one line. If the only key of an
// object is a leaf (an algorithm or a composition), the object and everything inside it are on one line.
func (o treeObject) write(b *strings.Builder, depth int, oneLine bool) {
	oneLine = oneLine || len(o) == 0 || len(o) == 1 && isLeaf(o[0].Key)
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if !oneLine {
			b.WriteString("\n" + strings.Repeat(" ", depth+1))
		} else if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(quote(m.Key) + ": ")
		m.Value.write(b, depth+1, oneLine)
	}
	if !oneLine {
		b.WriteString("\n" + strings.Repeat(" ", depth))
	}
	b.WriteByte('}')
}

func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // keeps "<=" readable
	if err := e.Encode(s); err != nil {
		panic("mpich: " + err.Error()) // every string has a JSON form
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// parseTree reads a selection tree. The error matches errTreeSyntax and contains the line number.
//
// Like MPICH, it removes spaces from keys. If two keys are equal, the last one replaces the first. Unlike
// MPICH, it rejects text after the tree, comments inside it and single quotes.
func parseTree(text []byte) (treeObject, error) {
	text = blankComment(text)
	d := json.NewDecoder(bytes.NewReader(text))
	o, err := parseObject(d, 0)
	if _, after := d.Token(); err == nil && !errors.Is(after, io.EOF) {
		err = errors.New("more text after the tree")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: line %d: %w", errTreeSyntax, 1+bytes.Count(text[:d.InputOffset()], []byte("\n")), err)
	}
	return o, nil
}

func parseObject(d *json.Decoder, depth int) (treeObject, error) {
	if open, err := d.Token(); err != nil || open != json.Delim('{') || depth > maxTreeDepth {
		return nil, errors.Join(err, fmt.Errorf("want { of an object, at most %d objects deep", maxTreeDepth))
	}
	var o treeObject
	seen := map[any]int{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		value, err := parseObject(d, depth+1)
		if err != nil {
			return nil, err
		}
		if i, ok := seen[key]; ok {
			o[i].Value = value
			continue
		}
		seen[key] = len(o)
		o = append(o, treeMember{strings.ReplaceAll(fmt.Sprint(key), " ", ""), value})
	}
	_, err := d.Token()
	return o, err
}

func (f files) check(lib libraryTree) error {
	if err := check(f.flat, lib.Tree, lib); err != nil || len(f.device) == 0 {
		return err
	}
	return check(f.device, lib.Device, lib)
}

// check returns an error if MPICH would abort with the tree. `own` is the library's tree that `tree`
// replaces.
func check(tree, own treeObject, lib libraryTree) error {
	for _, f := range faultsOf(tree, own, lib) {
		return fmt.Errorf("mpich: %s", f)
	}
	return nil
}

// treeFault is a part of a tree with which MPICH would abort.
type treeFault struct {
	path    []string // keys from the top
	text    string
	key     string // below the path, if the text names it
	missing string // collective without a tree; MPICH aborts only when it is called
}

func (f treeFault) String() string { return strings.Join(append(slices.Clone(f.path), f.text), ": ") }

// faultsOf returns the faults of a tree.
func faultsOf(tree, own treeObject, lib libraryTree) []treeFault {
	kind, names := leafKey, lib.Leaves
	if strings.HasPrefix(anyLeaf(own), compositionKey) {
		kind, names = compositionKey, lib.Compositions
	}
	c := checker{lib: lib, kind: kind, names: names}
	c.top(nil, tree, own)
	return c.faults
}

func anyLeaf(o treeObject) string {
	for len(o) > 0 && !isLeaf(o[0].Key) {
		o = o[0].Value
	}
	if len(o) == 0 {
		return ""
	}
	return o[0].Key
}

type checker struct {
	lib        libraryTree
	kind       string   // what leaves begin with
	names      []string // of leaves
	collective string
	faults     []treeFault
}

func (c *checker) fault(path []string, format string, args ...any) {
	c.faults = append(c.faults, treeFault{path: slices.Clone(path), text: fmt.Sprintf(format, args...)})
}

// top checks the part of a tree above the collectives. It may have conditions about the communicator.
func (c *checker) top(path []string, o, own treeObject) {
	if slices.ContainsFunc(o, func(m treeMember) bool { return strings.HasPrefix(m.Key, collectiveKey) }) || len(o) == 0 {
		for _, m := range own {
			if _, ok := o.Get(m.Key); !ok {
				c.fault(path, "%s is missing: MPICH aborts when it is called", m.Key)
				c.faults[len(c.faults)-1].missing = strings.TrimPrefix(m.Key, collectiveKey)
			}
		}
	}
	for i, m := range o {
		below := append(slices.Clone(path), m.Key)
		if name, ok := strings.CutPrefix(m.Key, collectiveKey); ok {
			c.collective = name
			c.branch(below, m.Value)
			continue
		}
		cond, err := parseCondition(m.Key)
		if err != nil || !cond.ofComm() {
			c.fault(below, "want %s at the top of the tree", collectiveKey)
			continue
		}
		c.condition(below, cond, i == len(o)-1)
		c.top(below, m.Value, own)
	}
}

// condition checks a condition, the last one of its object or not.
func (c *checker) condition(path []string, cond condition, last bool) {
	switch {
	case !cond.known(c.lib):
		c.fault(path, "%s has no such condition", c.lib.Source)
	case cond.value == "any" && !last:
		c.fault(path, "want it as the last alternative")
	case cond.ranged() && last:
		c.fault(path, "want another alternative after it")
	}
}

func (c *checker) branch(path []string, o treeObject) {
	if len(o) == 0 {
		c.fault(path, "a branch ends without %s", c.kind)
		return
	}
	if isLeaf(o[0].Key) {
		c.leaf(path, o)
		return
	}
	for i, m := range o {
		cond, err := parseCondition(m.Key)
		if err != nil {
			c.fault(path, "%v", err)
			c.faults[len(c.faults)-1].key = m.Key
			continue
		}
		below := append(slices.Clone(path), m.Key)
		c.condition(below, cond, i == len(o)-1)
		c.branch(below, m.Value)
	}
}

var leafOf = lazyregexp.New(`^(?:MPIR_([A-Za-z_]+?)_(?:intra|inter|allcomm)_|MPIDI_([A-Za-z_]+?)_intra_composition_)`)

func (c *checker) leaf(path []string, o treeObject) {
	name, ok := strings.CutPrefix(o[0].Key, c.kind)
	parts := leafOf.FindStringSubmatch(name)
	switch {
	case !ok:
		c.fault(append(slices.Clone(path), o[0].Key), "want %s here", c.kind)
	case len(o) > 1:
		c.fault(append(slices.Clone(path), name), "%s next to a leaf: want nothing", o[1].Key)
	case c.names != nil && !slices.Contains(c.names, name):
		c.fault(append(slices.Clone(path), name), "no such algorithm (list of algorithms: %s)", c.lib.Source)
	case parts == nil || strings.ToLower(parts[1]+parts[2]) != c.collective:
		c.fault(append(slices.Clone(path), name), "not an algorithm of %s", c.collective)
	}
}
