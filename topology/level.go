package topology

import (
	"fmt"
	"math"
	"slices"
)

// Level is what the vertices of one kind and height have in common.
type Level struct {
	Kind       Kind    `json:"kind"`
	Height     int     `json:"height"`            // of switches: 0 for those that hold nodes only
	Count      int     `json:"count"`             // vertices
	Least      int     `json:"least"`             // members of the smallest and of the largest: nodes below a
	Most       int     `json:"most"`              // switch, else the innermost places below
	Seconds    float64 `json:"seconds,omitempty"` // median of what is known; 0 when nothing is
	Confidence float64 `json:"confidence"`        // the least
}

// Levels returns the levels of the tree, outermost first. What has no children makes
// no level.
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
		k := key{kind: v.Kind, height: max(0, v.Height())}
		if at[k] == nil {
			order = append(order, k)
		}
		at[k] = append(at[k], v)
	}
	slices.SortStableFunc(order, func(a, b key) int {
		if d := slices.Index(kinds, a.kind) - slices.Index(kinds, b.kind); d != 0 {
			return d
		}
		return b.height - a.height
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

// below counts the nodes below a switch, or the innermost places below anything else.
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

// String says the level in words: 4 switches of 8 nodes, 2.18 µs.
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
		s += fmt.Sprintf(", %.3g µs", l.Seconds*1e6)
	}
	return s
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
