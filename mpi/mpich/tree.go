package mpich

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
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
// MPICH, it rejects text after the tree, comments and single quotes.
func parseTree(text []byte) (treeObject, error) {
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

// check returns an error if MPICH would abort with the tree. The parameter `own` is the library's tree that `tree`
// replaces.
func check(tree, own treeObject, lib libraryTree) error {
	for _, m := range own {
		if _, ok := tree.Get(m.Key); !ok {
			return fmt.Errorf("mpich: %s is missing: MPICH aborts when it is called", m.Key)
		}
	}
	kind, names := leafKey, lib.Leaves
	if strings.HasPrefix(anyLeaf(own), compositionKey) {
		kind, names = compositionKey, lib.Compositions
	}
	for _, m := range tree {
		name, ok := strings.CutPrefix(m.Key, collectiveKey)
		if !ok {
			return fmt.Errorf("mpich: %s: want %s at the top of the tree", m.Key, collectiveKey)
		}
		c := checker{lib, kind, names, name}
		if err := c.branch(m.Value); err != nil {
			return fmt.Errorf("mpich: %s: %w", m.Key, err)
		}
	}
	return nil
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
}

func (c checker) branch(o treeObject) error {
	if len(o) == 0 {
		return fmt.Errorf("a branch ends without %s", c.kind)
	}
	if isLeaf(o[0].Key) {
		return c.leaf(o)
	}
	for i, m := range o {
		cond, err := parseCondition(m.Key)
		if err != nil {
			return err
		}
		last := i == len(o)-1
		switch {
		case !cond.known(c.lib):
			return fmt.Errorf("%s: %s has no such condition", m.Key, c.lib.Source)
		case cond.value == "any" && !last:
			return fmt.Errorf("%s: want it as the last alternative", m.Key)
		case cond.ranged() && last:
			return fmt.Errorf("%s: want another alternative after it", m.Key)
		}
		if err := c.branch(m.Value); err != nil {
			return fmt.Errorf("%s: %w", m.Key, err)
		}
	}
	return nil
}

var leafOf = regexp.MustCompile(`^(?:MPIR_([A-Za-z_]+?)_(?:intra|inter|allcomm)_|MPIDI_([A-Za-z_]+?)_intra_composition_)`)

func (c checker) leaf(o treeObject) error {
	name, ok := strings.CutPrefix(o[0].Key, c.kind)
	parts := leafOf.FindStringSubmatch(name)
	switch {
	case !ok:
		return fmt.Errorf("%s: want %s here", o[0].Key, c.kind)
	case len(o) > 1:
		return fmt.Errorf("%s: %s next to a leaf: want nothing", name, o[1].Key)
	case !slices.Contains(c.names, name):
		return fmt.Errorf("%s: %s has no such algorithm", name, c.lib.Source)
	case parts == nil || strings.ToLower(parts[1]+parts[2]) != c.collective:
		return fmt.Errorf("%s: not an algorithm of %s", name, c.collective)
	}
	return nil
}
