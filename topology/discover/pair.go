package discover

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"tutti/topology"
)

// ErrPair is matched by errors about pairs that nobody can have measured.
var ErrPair = errors.New("not a measured pair")

// PairTime is one measurement of two nodes.
type PairTime struct {
	A, B    string
	Seconds float64 // of the same message for all pairs
}

// Check returns an error matching ErrPair for a node with itself and a time that is not
// above 0 and finite.
func (p PairTime) Check() error {
	switch {
	case p.A == p.B:
		return fmt.Errorf("%w: node %s with itself", ErrPair, p.A)
	case !(p.Seconds > 0) || math.IsInf(p.Seconds, 0):
		return fmt.Errorf("%w: nodes %s and %s: %g seconds: want a time above 0", ErrPair, p.A, p.B, p.Seconds)
	}
	return nil
}

// Component is a node, or the link from a switch up to its parent.
type Component struct {
	Kind topology.Kind `json:"kind"` // Node or Switch
	Name string        `json:"name"`
}

// String returns node n1 or link of switch leaf1.
func (p Component) String() string {
	if p.Kind == topology.Switch {
		return fmt.Sprintf("link of %s %s", p.Kind, p.Name)
	}
	return fmt.Sprintf("%s %s", p.Kind, p.Name)
}

// way is what the message of a pair passes.
type way struct {
	places []Component // the two nodes first
	height int         // of the switch where they meet
}

// ways finds what messages pass in a tree.
type ways struct {
	nodes  map[string]*topology.Vertex
	parent map[*topology.Vertex]*topology.Vertex
}

func newWays(t *topology.Tree) ways {
	w := ways{nodes: map[string]*topology.Vertex{}, parent: map[*topology.Vertex]*topology.Vertex{}}
	for v, parent := range t.All() {
		w.parent[v] = parent
		if v.Kind == topology.Node {
			w.nodes[v.Name] = v
		}
	}
	return w
}

// of checks a pair and returns its way.
func (w ways) of(p PairTime) (way, error) {
	a, b := w.nodes[p.A], w.nodes[p.B]
	switch {
	case a == nil:
		return way{}, fmt.Errorf("%w: no node %q in the tree", ErrPair, p.A)
	case b == nil:
		return way{}, fmt.Errorf("%w: no node %q in the tree", ErrPair, p.B)
	}
	if err := p.Check(); err != nil {
		return way{}, err
	}
	above := map[*topology.Vertex]bool{}
	for v := w.parent[a]; v != nil; v = w.parent[v] {
		above[v] = true
	}
	out := way{places: []Component{placeOf(a), placeOf(b)}}
	meet := w.parent[b]
	for ; !above[meet]; meet = w.parent[meet] {
		out.places = append(out.places, placeOf(meet))
	}
	for v := w.parent[a]; v != meet; v = w.parent[v] {
		out.places = append(out.places, placeOf(v))
	}
	out.height = meet.Height()
	return out, nil
}

func placeOf(v *topology.Vertex) Component { return Component{Kind: v.Kind, Name: v.Name} }

var columns = []string{"a", "b", "seconds"}

// ReadPairs reads pairs from comma-separated values with a header that has the columns a, b
// and seconds, a pair a line; other columns are passed over, and file stands in errors. A
// pair may be there several times.
//
// It returns an error matching ErrPair for a header without one of them, a time that is
// no number and a file without pairs. Whether the nodes exist and the times can be is for
// Find.
func ReadPairs(r io.Reader, file string) ([]PairTime, error) {
	c := csv.NewReader(r)
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
	for {
		cells, err := c.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		seconds, err := strconv.ParseFloat(cells[at[2]], 64)
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
