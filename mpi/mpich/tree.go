package mpich

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// treeObject is a JSON object with an order. It holds the alternatives of a selection tree, which MPICH
// tries in order. Every value is again an object.
type treeObject []treeMember

// treeMember is a key of a JSON object, without spaces, and the value of the key.
type treeMember struct {
	Key   string
	Value treeObject
}

// alternative returns one alternative of a tree: a condition or leaf, and the subtree below it.
func alternative(key string, value treeObject) treeMember {
	return treeMember{Key: key, Value: value}
}

// The keys of a tree that do not express conditions.
const (
	collectiveKey  = "collective="
	leafKey        = "algorithm="   // of the trees of point-to-point algorithms
	compositionKey = "composition=" // of the device's tree
)

// isLeaf reports whether a key names an algorithm or a composition. Other keys are conditions.
func isLeaf(key string) bool {
	return strings.HasPrefix(key, leafKey) || strings.HasPrefix(key, compositionKey)
}

// errTreeSyntax is the error for text that is not a selection tree. errors.Is finds it.
var errTreeSyntax = errors.New("not a selection tree")

// maxTreeDepth is the largest depth of a tree. MPICH's own tree has 15 kB and depth 9.
const (
	maxTreeDepth = 64
	maxTreeBytes = 16 << 20
)

// Get returns the value of a key. It returns false if the object does not have the key.
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
	o.write(&b, 0)
	b.WriteByte('\n')
	return []byte(b.String())
}

func (o treeObject) write(b *strings.Builder, depth int) {
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
func (o treeObject) flat() bool {
	return len(o) == 0 || len(o) == 1 && isLeaf(o[0].Key)
}

func (o treeObject) writeFlat(b *strings.Builder) {
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
		panic("mpich: " + err.Error()) // every string has a JSON form
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// parseTree reads a selection tree. The error matches errTreeSyntax and contains the line and the byte
// offset.
//
// Like MPICH, it removes spaces from keys. If two keys are equal, the last one replaces the first. Unlike
// MPICH, it rejects text after the tree, comments and single quotes.
func parseTree(text []byte) (treeObject, error) {
	p := &treeParser{text: text}
	if len(text) > maxTreeBytes {
		return nil, fmt.Errorf("%w: %d bytes: want at most %d", errTreeSyntax, len(text), maxTreeBytes)
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

type treeParser struct {
	text []byte
	at   int
}

func (p *treeParser) fail(format string, args ...any) error {
	p.at = min(p.at, len(p.text))
	line := 1 + bytes.Count(p.text[:p.at], []byte("\n"))
	return fmt.Errorf("%w: line %d, offset %d: %s", errTreeSyntax, line, p.at, fmt.Sprintf(format, args...))
}

// next describes the next character, for use in an error message.
func (p *treeParser) next() string {
	if p.at >= len(p.text) {
		return io.ErrUnexpectedEOF.Error()
	}
	r, _ := utf8.DecodeRune(p.text[p.at:])
	return fmt.Sprintf("%q", r)
}

func (p *treeParser) skip() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// accept skips white space. If the given character is next, accept skips it and returns true.
func (p *treeParser) accept(c byte) bool {
	p.skip()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *treeParser) object(depth int) (treeObject, error) {
	if depth > maxTreeDepth {
		return nil, p.fail("more than %d objects deep", maxTreeDepth)
	}
	if !p.accept('{') {
		return nil, p.fail("%s: want { of an object", p.next())
	}
	var o treeObject
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
		o = append(o, treeMember{strings.ReplaceAll(key, " ", ""), value})
	}
	return o, nil
}

// key reads a string and the colon after it.
func (p *treeParser) key() (string, error) {
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
