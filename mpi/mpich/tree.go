package mpich

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// treeObject is a JSON object whose keys keep their order. It holds the alternatives of a selection tree,
// which MPICH tries in this order. Every value is again an object.
type treeObject []treeMember

type treeMember struct {
	Key   string
	Value treeObject
}

func alternative(key string, value treeObject) treeMember {
	return treeMember{Key: key, Value: value}
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

// write writes the object as JSON, indented by its depth. An empty object is on one line. So is an object with
// one leaf, together with everything inside it.
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
		o = append(o, alternative(strings.ReplaceAll(fmt.Sprint(key), " ", ""), value))
	}
	_, err := d.Token()
	return o, err
}
