package mpi

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// JSON is a value of a JSON text with the line on which it begins. Unlike encoding/json, ParseJSON keeps the order and
// the duplicates of keys, and accepts a comma after the last element, as the parsers of MPI libraries do.
type JSON struct {
	Line    int
	Kind    JSONKind
	Text    string // of a string, decoded; of a number, true, false or null as it stands in the file
	Members []JSONMember
	Items   []*JSON
}

// JSONMember is a member of an object.
type JSONMember struct {
	Key   string
	Line  int
	Value *JSON
}

// JSONKind is the kind of a value.
type JSONKind string

// The kinds of values.
const (
	JSONObject JSONKind = "object"
	JSONArray  JSONKind = "list"
	JSONString JSONKind = "text"
	JSONNumber JSONKind = "number"
	JSONWord   JSONKind = "word" // true, false, null
)

// Get returns the last member with a key, or nil.
func (v *JSON) Get(key string) *JSON {
	for i := len(v.Members) - 1; i >= 0; i-- {
		if v.Members[i].Key == key {
			return v.Members[i].Value
		}
	}
	return nil
}

// maxJSONDepth limits the nesting of values.
const maxJSONDepth = 200

// ParseJSON parses a text. It also returns the lines on which a comma precedes a closing bracket. The error is a
// *JSONError; the value is nil unless the error is that more text follows it. O(n) time for n bytes.
func ParseJSON(text []byte) (v *JSON, trailing []int, err error) {
	p := &jsonParser{text: string(text), line: 1}
	defer func() {
		if e, ok := recover().(*JSONError); ok {
			v, err = nil, e
		}
	}()
	v = p.value(0)
	p.blanks()
	if p.at < len(p.text) {
		return v, p.trailing, &JSONError{p.line, "more text after the end"}
	}
	return v, p.trailing, nil
}

// JSONError says where a text is not JSON.
type JSONError struct {
	Line int
	Text string
}

func (e *JSONError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

type jsonParser struct {
	text     string
	at, line int
	trailing []int
}

// fail ends the parser. ParseJSON recovers.
func (p *jsonParser) fail(format string, args ...any) {
	panic(&JSONError{p.line, fmt.Sprintf(format, args...)})
}

func (p *jsonParser) blanks() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		if p.text[p.at] == '\n' {
			p.line++
		}
		p.at++
	}
}

// peek returns the next byte that is no blank. The end of the text is an error.
func (p *jsonParser) peek() byte {
	p.blanks()
	if p.at >= len(p.text) {
		p.fail("the file ends inside a value: it is cut off")
	}
	for _, begin := range []string{"//", "/*", "#"} {
		if strings.HasPrefix(p.text[p.at:], begin) {
			p.fail("a comment (%s): JSON has none, remove it", begin)
		}
	}
	return p.text[p.at]
}

func (p *jsonParser) value(depth int) *JSON {
	if depth > maxJSONDepth {
		p.fail("more than %d values inside each other", maxJSONDepth)
	}
	c := p.peek()
	v := &JSON{Line: p.line}
	switch {
	case c == '{':
		v.Kind = JSONObject
		p.list('}', func() {
			line := p.line
			if p.peek() != '"' {
				p.fail("%.20q: want a key in double quotes", p.text[p.at:])
			}
			key := p.quoted()
			if p.peek() != ':' {
				p.fail("%.20q after the key %.40q: want a colon", p.text[p.at:], key)
			}
			p.at++
			v.Members = append(v.Members, JSONMember{key, line, p.value(depth + 1)})
		})
	case c == '[':
		v.Kind = JSONArray
		p.list(']', func() { v.Items = append(v.Items, p.value(depth+1)) })
	case c == '"':
		v.Kind, v.Text = JSONString, p.quoted()
	default:
		p.bare(v)
	}
	return v
}

// list reads the elements between brackets.
func (p *jsonParser) list(end byte, element func()) {
	p.at++
	for first := true; p.peek() != end; first = false {
		if !first {
			if p.text[p.at] != ',' {
				p.fail("%.20q: want a comma or %c", p.text[p.at:], end)
			}
			line := p.line
			p.at++
			if p.peek() == end {
				p.trailing = append(p.trailing, line)
				break
			}
		}
		element()
	}
	p.at++
}

func (p *jsonParser) quoted() string {
	end := p.at + 1
	for end < len(p.text) && p.text[end] != '"' && p.text[end] != '\n' {
		if p.text[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(p.text) || p.text[end] != '"' {
		p.fail("%.20q: the text has no closing quote on its line", p.text[p.at:])
	}
	var s string
	if err := json.Unmarshal([]byte(p.text[p.at:end+1]), &s); err != nil {
		p.fail("%.40q: not a text of JSON", p.text[p.at:end+1])
	}
	p.at = end + 1
	return s
}

// bare reads a number, true, false or null.
func (p *jsonParser) bare(v *JSON) {
	end := p.at
	for end < len(p.text) && strings.IndexByte(" \t\r\n,:{}[]\"", p.text[end]) < 0 {
		end++
	}
	v.Text = p.text[p.at:end]
	_, err := strconv.ParseFloat(v.Text, 64)
	switch {
	case v.Text == "true" || v.Text == "false" || v.Text == "null":
		v.Kind = JSONWord
	case err == nil && json.Valid([]byte(v.Text)):
		v.Kind = JSONNumber
	default:
		p.fail("%.20q: want a value", p.text[p.at:])
	}
	p.at = end
}
