package csel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Object is an ordered JSON object: the alternatives of a selection tree, tried in order.
// Every value is an object.
type Object []Member

// Member is one key, without spaces, and its value.
type Member struct {
	Key   string
	Value Object
}

// The keys of a tree that are not conditions.
const (
	CollectiveKey  = "collective="
	LeafKey        = "algorithm="   // of the trees of point-to-point algorithms
	CompositionKey = "composition=" // of the device's tree
)

// IsLeaf reports whether a key names a choice rather than a condition.
func IsLeaf(key string) bool {
	return strings.HasPrefix(key, LeafKey) || strings.HasPrefix(key, CompositionKey)
}

// ErrSyntax reports text that is not a selection tree.
var ErrSyntax = errors.New("not a selection tree")

// MaxDepth is the largest depth of a tree. MPICH's own has 15 kB and depth 9.
const (
	MaxDepth = 64
	maxBytes = 16 << 20
)

// Get returns the value of a key and whether there is one.
func (o Object) Get(key string) (Object, bool) {
	for _, m := range o {
		if m.Key == key {
			return m.Value, true
		}
	}
	return nil, false
}

// With returns a copy with the value of a key replaced or appended.
func (o Object) With(key string, value Object) Object {
	out := append(Object(nil), o...)
	for i := range out {
		if out[i].Key == key {
			out[i].Value = value
			return out
		}
	}
	return append(out, Member{key, value})
}

// Bytes returns the tree as JSON, one condition on each line.
func (o Object) Bytes() []byte {
	var b strings.Builder
	o.write(&b, 0)
	b.WriteByte('\n')
	return []byte(b.String())
}

func (o Object) write(b *strings.Builder, depth int) {
	if o.flat() {
		o.writeFlat(b)
		return
	}
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.WriteString(strings.Repeat(" ", depth+1))
		b.WriteString(quote(m.Key) + ": ")
		m.Value.write(b, depth+1)
	}
	b.WriteString("\n" + strings.Repeat(" ", depth) + "}")
}

// flat reports whether the object fits on one line: it is empty or has one leaf.
func (o Object) flat() bool {
	return len(o) == 0 || len(o) == 1 && IsLeaf(o[0].Key)
}

func (o Object) writeFlat(b *strings.Builder) {
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(m.Key) + ": ")
		m.Value.writeFlat(b)
	}
	b.WriteByte('}')
}

func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // keeps "<=" readable
	if err := e.Encode(s); err != nil {
		panic("csel: " + err.Error()) // every string has a JSON form
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Parse reads a selection tree. The error matches ErrSyntax and contains line and byte
// offset.
//
// Like MPICH, it removes spaces from keys, and the last of two equal keys replaces the
// first. Unlike MPICH, it rejects text after the tree, comments and single quotes.
func Parse(text []byte) (Object, error) {
	p := &parser{text: text}
	if len(text) > maxBytes {
		return nil, fmt.Errorf("%w: %d bytes: want at most %d", ErrSyntax, len(text), maxBytes)
	}
	p.skip()
	o, err := p.object(0)
	if err != nil {
		return nil, err
	}
	p.skip()
	if p.at < len(text) {
		return nil, p.fail("%s after the tree: want nothing", p.next())
	}
	return o, nil
}

type parser struct {
	text []byte
	at   int
}

func (p *parser) fail(format string, args ...any) error {
	p.at = min(p.at, len(p.text))
	line := 1 + bytes.Count(p.text[:p.at], []byte("\n"))
	return fmt.Errorf("%w: line %d, offset %d: %s", ErrSyntax, line, p.at, fmt.Sprintf(format, args...))
}

// next describes the next character for an error.
func (p *parser) next() string {
	if p.at >= len(p.text) {
		return io.ErrUnexpectedEOF.Error()
	}
	r, _ := utf8.DecodeRune(p.text[p.at:])
	return fmt.Sprintf("%q", r)
}

func (p *parser) skip() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// accept skips white space, then one given character if it is next.
func (p *parser) accept(c byte) bool {
	p.skip()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) object(depth int) (Object, error) {
	if depth > MaxDepth {
		return nil, p.fail("more than %d objects deep", MaxDepth)
	}
	if !p.accept('{') {
		return nil, p.fail("%s: want { of an object", p.next())
	}
	var o Object
	seen := map[string]int{}
	for first := true; !p.accept('}'); first = false {
		if !first && !p.accept(',') {
			return nil, p.fail("%s: want , or }", p.next())
		}
		key, err := p.key()
		if err != nil {
			return nil, err
		}
		value, err := p.object(depth + 1)
		if err != nil {
			return nil, err
		}
		if i, ok := seen[key]; ok {
			o[i].Value = value
			continue
		}
		seen[key] = len(o)
		o = append(o, Member{strings.ReplaceAll(key, " ", ""), value})
	}
	return o, nil
}

// key reads a string and the colon after it.
func (p *parser) key() (string, error) {
	if !p.accept('"') {
		return "", p.fail("%s: want \" of a key", p.next())
	}
	start := p.at - 1
	for {
		if p.at >= len(p.text) {
			return "", p.fail("%s in a key", p.next())
		}
		c := p.text[p.at]
		p.at++
		if c == '\\' {
			p.at++
		}
		if c == '"' {
			break
		}
	}
	var key string
	if err := json.Unmarshal(p.text[start:min(p.at, len(p.text))], &key); err != nil {
		p.at = start
		return "", p.fail("key: %v", err)
	}
	if !p.accept(':') {
		return "", p.fail("%s: want : after a key", p.next())
	}
	return key, nil
}
