package topology

import (
	"cmp"
	"fmt"
	"slices"
)

// Comparison is how a declared tree and a measured one agree.
type Comparison struct {
	Agree       int          `json:"agree"` // nodes that both have below the same switch
	Differences []Difference `json:"differences"`
}

// Difference is one thing that the two trees see differently.
type Difference struct {
	What       What     `json:"what"`
	Places     []string `json:"places"`             // nodes, or switches of the declared tree
	Declared   string   `json:"declared,omitempty"` // the switch that has them in the declared tree
	Measured   string   `json:"measured,omitempty"` // the switch of the declared tree that they were measured with
	Confidence float64  `json:"confidence"`         // of the measured switch
}

// What is how the trees differ.
type What string

// The ways to differ.
const (
	Missing  What = "missing"  // declared and not measured
	Unlisted What = "unlisted" // measured and not declared
	Moved    What = "moved"    // measured with the places of another switch
	Split    What = "split"    // measured apart from the other places of their switch
	Joined   What = "joined"   // all places of one switch measured together with those of another
	Unclear  What = "unclear"  // the measured tree has no clear division to compare with
)

// String says the difference in words.
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

// Compare holds a measured tree against a declared one, such as the scheduler's file:
// first the nodes and the switches above them, then these switches and what is above
// them, and so on to the top of either. Switches of the two trees are taken for the same
// when they share most, the largest overlap first.
//
// It returns an error when one of the trees does not pass Check.
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
		cells := overlaps(pairs, up, down)
		match(cells)
		for _, cell := range cells {
			if first && cell.same {
				c.Agree += len(cell.places)
			}
			if !cell.same {
				c.Differences = append(c.Differences, cell.difference(cells))
			}
		}
		pairs = pairs[:0]
		for _, cell := range cells {
			if cell.same && up[cell.declared] != nil && down[cell.measured] != nil {
				pairs = append(pairs, pair{name: cell.declared.Name, declared: cell.declared, measured: cell.measured})
			}
		}
	}
	return c, nil
}

// parents returns the parent of every switch and node that has one.
func (t *Tree) parents() map[*Vertex]*Vertex {
	out := map[*Vertex]*Vertex{}
	for v, parent := range t.All() {
		if parent != nil && v.outer() {
			out[v] = parent
		}
	}
	return out
}

// pair is a place that both trees have.
type pair struct {
	name               string
	declared, measured *Vertex
}

// common returns the nodes of both trees, in the order of the declared one, and notes
// those that only one has. A name with a domain is that without, see Names.
func (c *Comparison) common(declared, measured *Tree) []pair {
	byName := map[string]*Vertex{}
	known := NamesOf(declared.Nodes())
	for v := range measured.All() {
		if v.Kind != Node {
			continue
		}
		name, ok := known.Find(v.Name)
		if !ok || byName[name] != nil {
			name = v.Name
		}
		byName[name] = v
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

// cell is the places that one switch of each tree share.
type cell struct {
	declared, measured *Vertex
	places             []string
	same               bool // the two switches are taken for the same
}

// overlaps returns the cells of a level, in the order of their first places. A place
// without a parent in one of the trees is left out.
func overlaps(pairs []pair, up, down map[*Vertex]*Vertex) []*cell {
	type key struct{ declared, measured *Vertex }
	var cells []*cell
	at := map[key]*cell{}
	for _, p := range pairs {
		k := key{declared: up[p.declared], measured: down[p.measured]}
		if k.declared == nil || k.measured == nil {
			continue
		}
		if at[k] == nil {
			at[k] = &cell{declared: k.declared, measured: k.measured}
			cells = append(cells, at[k])
		}
		at[k].places = append(at[k].places, p.name)
	}
	return cells
}

// match takes switches for the same, the largest overlap first, each once. What was
// measured without confidence is the same as nothing.
func match(cells []*cell) {
	taken := map[*Vertex]bool{}
	largest := slices.Clone(cells)
	slices.SortStableFunc(largest, func(a, b *cell) int { return cmp.Compare(len(b.places), len(a.places)) })
	for _, c := range largest {
		if c.measured.Confidence > 0 && !taken[c.declared] && !taken[c.measured] {
			c.same, taken[c.declared], taken[c.measured] = true, true, true
		}
	}
}

// difference says what a cell of switches that are not the same means.
func (c *cell) difference(cells []*cell) Difference {
	d := Difference{Places: c.places, Declared: c.declared.Name, Confidence: c.measured.Confidence}
	whole := true
	for _, o := range cells {
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
