package topology

import (
	"cmp"
	"fmt"
	"slices"
)

// Comparison says for how many nodes a declared tree agrees with a measured one, and where the trees differ.
type Comparison struct {
	Agree       int          `json:"agree"` // number of nodes below the same switch in both trees
	Differences []Difference `json:"differences"`
}

// Difference is one point in which the two trees differ.
type Difference struct {
	What       DifferenceKind `json:"what"`
	Places     []string       `json:"places"`             // nodes, or switches of the declared tree
	Declared   string         `json:"declared,omitempty"` // the parent of the places in the declared tree
	Measured   string         `json:"measured,omitempty"` // the switch of the declared tree whose nodes are measured together with the places
	Confidence float64        `json:"confidence"`         // confidence of the measured switch, 0 to 1
}

// DifferenceKind says in which way two trees differ at one point.
type DifferenceKind string

// Kinds of differences.
const (
	Missing  DifferenceKind = "missing"  // declared but not measured
	Unlisted DifferenceKind = "unlisted" // measured but not declared
	Moved    DifferenceKind = "moved"    // measured together with nodes of another switch
	Split    DifferenceKind = "split"    // measured apart from the other nodes of their switch
	Joined   DifferenceKind = "joined"   // all nodes of the switch are measured together with nodes of another switch
	Unclear  DifferenceKind = "unclear"  // the measured switch has confidence 0
)

// String describes the difference in one sentence.
func (d Difference) String() string {
	places := HostList(d.Places)
	switch d.What {
	case Missing:
		return places + ": declared, but not measured"
	case Unlisted:
		return places + ": measured, but not declared"
	case Moved:
		return fmt.Sprintf("%s: declared below %s, measured with those below %s", places, d.Declared, d.Measured)
	case Split:
		return fmt.Sprintf("%s: declared below %s, measured apart from the others there", places, d.Declared)
	case Joined:
		return fmt.Sprintf("%s: declared below %s, measured together with those below %s", places, d.Declared, d.Measured)
	default:
		return places + ": measured without a clear division"
	}
}

// Compare compares a measured tree with a declared one, such as the scheduler's file. It first compares the
// switches directly above the nodes, then the switches above these, up to the top of either tree. Two
// switches of different trees count as the same if they have most members in common. Pairs of switches with
// the largest overlap are matched first.
//
// It returns an error if one of the trees does not pass Check.
func Compare(declared, measured *Tree) (Comparison, error) {
	for _, t := range []*Tree{declared, measured} {
		if err := t.Check(); err != nil {
			return Comparison{}, err
		}
	}
	var c Comparison
	up, down := declared.parents(), measured.parents()
	pairs := c.common(declared, measured)
	for first := true; len(pairs) > 0; first = false {
		all := overlaps(pairs, up, down)
		match(all)
		for _, overlap := range all {
			if first && overlap.same {
				c.Agree += len(overlap.places)
			}
			if !overlap.same {
				c.Differences = append(c.Differences, overlap.difference(all))
			}
		}
		pairs = pairs[:0]
		for _, overlap := range all {
			if overlap.same && up[overlap.declared] != nil && down[overlap.measured] != nil {
				pairs = append(pairs, pair{name: overlap.declared.Name, declared: overlap.declared, measured: overlap.measured})
			}
		}
	}
	return c, nil
}

func (t *Tree) parents() map[*Vertex]*Vertex {
	out := map[*Vertex]*Vertex{}
	for v, parent := range t.All() {
		if parent != nil && v.outer() {
			out[v] = parent
		}
	}
	return out
}

// pair holds the two vertices that match: a node that is in both trees, or a declared and a measured switch.
type pair struct {
	name               string
	declared, measured *Vertex
}

// common returns the nodes that both trees contain, in the order of the declared tree. For each node that
// only one tree contains, it records a difference. A host name with a domain matches the name without it,
// as in Names.
func (c *Comparison) common(declared, measured *Tree) []pair {
	byName := map[string]*Vertex{}
	known := NamesOf(declared.Nodes()).Match(measured.Nodes())
	for v := range measured.All() {
		if v.Kind == Node {
			byName[cmp.Or(known[v.Name], v.Name)] = v
		}
	}
	var pairs []pair
	var missing, unlisted []string
	paired := map[*Vertex]bool{}
	for v := range declared.All() {
		switch m := byName[v.Name]; {
		case v.Kind != Node:
		case m == nil:
			missing = append(missing, v.Name)
		default:
			pairs = append(pairs, pair{name: v.Name, declared: v, measured: m})
			paired[m] = true
		}
	}
	for v := range measured.All() {
		if v.Kind == Node && !paired[v] {
			unlisted = append(unlisted, v.Name)
		}
	}
	if missing != nil {
		c.Differences = append(c.Differences, Difference{What: Missing, Places: missing})
	}
	if unlisted != nil {
		c.Differences = append(c.Differences, Difference{What: Unlisted, Places: unlisted})
	}
	return pairs
}

// overlap is a declared switch and a measured switch, with the nodes or matched switches that lie below
// both.
type overlap struct {
	declared, measured *Vertex
	places             []string
	same               bool // the two switches match
}

// overlaps returns the pairs of a declared and a measured switch that share vertices of the level below. The
// maps `up` and `down` have the parents of declared and measured vertices. A vertex without a parent in
// either tree is omitted. The overlaps are in the order of their first shared vertex.
func overlaps(pairs []pair, up, down map[*Vertex]*Vertex) []*overlap {
	type key struct{ declared, measured *Vertex }
	var all []*overlap
	at := map[key]*overlap{}
	for _, p := range pairs {
		k := key{declared: up[p.declared], measured: down[p.measured]}
		if k.declared == nil || k.measured == nil {
			continue
		}
		if at[k] == nil {
			at[k] = &overlap{declared: k.declared, measured: k.measured}
			all = append(all, at[k])
		}
		at[k].places = append(at[k].places, p.name)
	}
	return all
}

// match records which declared and measured switches match. It begins with the pair that has the most
// vertices below both. A switch matches at most one other switch. A measured switch with confidence 0
// matches none.
func match(all []*overlap) {
	taken := map[*Vertex]bool{}
	largest := slices.Clone(all)
	slices.SortStableFunc(largest, func(a, b *overlap) int { return cmp.Compare(len(b.places), len(a.places)) })
	for _, c := range largest {
		if c.measured.Confidence > 0 && !taken[c.declared] && !taken[c.measured] {
			c.same, taken[c.declared], taken[c.measured] = true, true, true
		}
	}
}

// difference describes how the trees differ where a declared switch and a measured switch overlap but do not
// match.
func (c *overlap) difference(all []*overlap) Difference {
	d := Difference{Places: c.places, Declared: c.declared.Name, Confidence: c.measured.Confidence}
	whole := true
	for _, o := range all {
		if o.same && o.measured == c.measured {
			d.Measured = o.declared.Name
		}
		whole = whole && (o == c || o.declared != c.declared)
	}
	switch {
	case c.measured.Confidence == 0:
		d.What = Unclear
	case d.Measured == "":
		d.What = Split
	case whole:
		d.What = Joined
	default:
		d.What = Moved
	}
	return d
}
