package topology

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Level describes all vertices of a tree that have the same kind and height.
type Level struct {
	Kind       Kind    `json:"kind"`
	Height     int     `json:"height"`            // vertices of this kind below a vertex, on the longest path
	Count      int     `json:"count"`             // number of vertices
	Least      int     `json:"least"`             // fewest members of a vertex: nodes below a
	Most       int     `json:"most"`              // switch, else the innermost vertices below
	Seconds    float64 `json:"seconds,omitempty"` // median of the known times; 0 without any
	Confidence float64 `json:"confidence"`        // least confidence of a vertex
}

// Levels returns the levels of the tree, from the outermost to the innermost. Vertices without children
// belong to no level.
func (t *Tree) Levels() []Level {
	type key struct {
		kind   Kind
		height int
	}
	var order []key
	at := map[key][]*Vertex{}
	for v := range t.All() {
		if len(v.Children) == 0 {
			continue
		}
		k := key{kind: v.Kind, height: v.nested(v.Kind)}
		if at[k] == nil {
			order = append(order, k)
		}
		at[k] = append(at[k], v)
	}
	slices.SortStableFunc(order, func(a, b key) int {
		return cmp.Or(slices.Index(kinds, a.kind)-slices.Index(kinds, b.kind), b.height-a.height)
	})
	levels := make([]Level, len(order))
	for i, k := range order {
		levels[i] = levelOf(k.kind, k.height, at[k])
	}
	return levels
}

func levelOf(kind Kind, height int, vertices []*Vertex) Level {
	l := Level{Kind: kind, Height: height, Count: len(vertices), Least: math.MaxInt, Confidence: 1}
	var known []float64
	for _, v := range vertices {
		members := v.below()
		l.Least, l.Most = min(l.Least, members), max(l.Most, members)
		l.Confidence = min(l.Confidence, v.Confidence)
		if v.Seconds > 0 {
			known = append(known, v.Seconds)
		}
	}
	if len(known) > 0 {
		slices.Sort(known)
		l.Seconds = known[len(known)/2]
	}
	return l
}

// nested returns how many vertices of the given kind lie on the longest path below v.
func (v *Vertex) nested(kind Kind) int {
	most := 0
	for i := range v.Children {
		c := &v.Children[i]
		n := c.nested(kind)
		if c.Kind == kind {
			n++
		}
		most = max(most, n)
	}
	return most
}

// below returns the number of nodes in the tree below a switch. For any other vertex it returns the number of
// innermost vertices below it.
func (v *Vertex) below() int {
	sum := 0
	for i := range v.Children {
		c := &v.Children[i]
		if c.Kind == Node || len(c.Children) == 0 {
			sum++
		} else {
			sum += c.below()
		}
	}
	return sum
}

// String returns a text such as "4 switches of 8 nodes, 2.18 µs".
func (l Level) String() string {
	member := "place"
	if l.Kind == Switch {
		member = "node"
	}
	sizes := plural(l.Most, member)
	if l.Least != l.Most {
		sizes = fmt.Sprintf("%d to %s", l.Least, sizes)
	}
	s := fmt.Sprintf("%s of %s", plural(l.Count, string(l.Kind)), sizes)
	if l.Seconds > 0 {
		s += ", " + micros(l.Seconds)
	}
	return s
}

// micros returns a time with three significant digits, as 2.18 µs or 12300 µs.
func micros(seconds float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(seconds*1e6, 'g', 3, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64) + " µs"
}

func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case noun == string(Switch):
		return fmt.Sprintf("%d switches", n)
	default:
		return fmt.Sprintf("%d %ss", n, noun)
	}
}
