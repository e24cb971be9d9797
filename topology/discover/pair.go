package discover

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"tutti/coll"
	"tutti/internal/infile"
	"tutti/topology"
)

// ErrPair is the error for an invalid measurement of a pair. errors.Is finds it.
var ErrPair = errors.New("not a measured pair")

// PairTime is the time of a message between two nodes and back.
type PairTime struct {
	A, B    string
	Seconds float64 // round trip of a message whose size is the same for all pairs
}

// Check returns an error if both nodes are the same, or if the time is not positive and finite. The error
// matches ErrPair.
func (p PairTime) Check() error {
	switch {
	case p.A == p.B:
		return fmt.Errorf("%w: node %s with itself", ErrPair, p.A)
	case !(p.Seconds > 0) || math.IsInf(p.Seconds, 0):
		return fmt.Errorf("%w: nodes %s and %s: %g seconds: want a time above 0", ErrPair, p.A, p.B, p.Seconds)
	}
	return nil
}

// Component is a part of the network that can be slow: a node, or the link from a switch up to its parent.
type Component struct {
	Kind topology.Kind `json:"kind"` // Node or Switch
	Name string        `json:"name"`
}

// String returns a text such as "node n1" or "link of switch leaf1".
func (p Component) String() string {
	if p.Kind == topology.Switch {
		return fmt.Sprintf("link of %s %s", p.Kind, p.Name)
	}
	return fmt.Sprintf("%s %s", p.Kind, p.Name)
}

// route is the path of a message between two nodes, as a list of components.
type route struct {
	components []Component // the two nodes, then the links between them
	height     int         // height of the switch that connects both nodes
}

type routes struct {
	at     map[string]*topology.Vertex // nodes by their names, cores by node and name
	parent map[*topology.Vertex]*topology.Vertex
}

func newRoutes(t *topology.Tree) routes {
	w := routes{at: map[string]*topology.Vertex{}, parent: map[*topology.Vertex]*topology.Vertex{}}
	host := ""
	for v, parent := range t.All() {
		w.parent[v] = parent
		switch {
		case v.Kind == topology.Node:
			host = v.Name
			w.at[host] = v
		case v.Kind != topology.Switch && len(v.Children) == 0:
			w.at[host+" "+v.Name] = v
		}
	}
	return w
}

func (w routes) meeting(a, b *topology.Vertex) *topology.Vertex {
	above := map[*topology.Vertex]bool{nil: true}
	for v := w.parent[a]; v != nil; v = w.parent[v] {
		above[v] = true
	}
	meet := w.parent[b]
	for !above[meet] {
		meet = w.parent[meet]
	}
	return meet
}

func (w routes) between(p PairTime) (route, error) {
	for _, node := range []string{p.A, p.B} {
		if w.at[node] == nil {
			return route{}, fmt.Errorf("%w: no node %q in the tree", ErrPair, node)
		}
	}
	if err := p.Check(); err != nil {
		return route{}, err
	}
	a, b := w.at[p.A], w.at[p.B]
	meet := w.meeting(a, b)
	out := route{components: []Component{componentOf(a), componentOf(b)}, height: meet.Height()}
	for _, end := range []*topology.Vertex{b, a} {
		for v := w.parent[end]; v != meet; v = w.parent[v] {
			out.components = append(out.components, componentOf(v))
		}
	}
	return out, nil
}

func componentOf(v *topology.Vertex) Component { return Component{Kind: v.Kind, Name: v.Name} }

var columns = []string{"a", "b", "seconds"}

// ReadPairs reads pairs from comma-separated values, one pair per line. The header must have the columns a, b
// and seconds; other columns are ignored. A pair may occur several times. A byte order mark at the start is skipped. Errors
// begin with the name `file`.
//
// If the file begins with [, it has PLogP parameters; see ReadParameters. Then the times are those of messages of one byte.
//
// The error matches ErrPair if a column is missing, if a time is not a number, or if the file has no pairs.
// FindSuspects checks nodes and times.
func ReadPairs(r io.Reader, file string) ([]PairTime, error) {
	text := infile.SkipByteOrderMark(r)
	if first, err := text.Peek(1); err == nil && first[0] == '[' {
		p, err := ReadParameters(text, file)
		return p.Times(1), err
	}
	c := csv.NewReader(text)
	header, err := c.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var at [3]int
	for i, name := range columns {
		if at[i] = slices.Index(header, name); at[i] < 0 {
			return nil, fmt.Errorf("%s:1: %w: header %q: want the columns %q", file, ErrPair, header, columns)
		}
	}
	var out []PairTime
	for cells, err := c.Read(); !errors.Is(err, io.EOF); cells, err = c.Read() {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		seconds, err := coll.ParseNumber(cells[at[2]])
		if err != nil {
			line, _ := c.FieldPos(at[2])
			return nil, fmt.Errorf("%s:%d: %w: %q: want seconds", file, line, ErrPair, cells[at[2]])
		}
		out = append(out, PairTime{A: cells[at[0]], B: cells[at[1]], Seconds: seconds})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: %w: nothing below the header", file, ErrPair)
	}
	return out, nil
}
