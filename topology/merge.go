package topology

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Merged is what several trees say together.
type Merged struct {
	Tree      Tree
	Conflicts []Conflict
	Unknown   []Unknown
}

// Conflict is a pair of nodes that one tree puts together and another one apart.
type Conflict struct {
	A        string  `json:"a"`
	B        string  `json:"b"`
	Seconds  float64 `json:"seconds"`  // the level at which they are together or apart
	Together bool    `json:"together"` // what was believed
	Doubted  int     `json:"doubted"`  // which of the trees says otherwise
}

// String says the conflict in words.
func (c Conflict) String() string {
	believed := "apart"
	if c.Together {
		believed = "together"
	}
	return fmt.Sprintf("%s and %s: believed to be %s at %.3g µs, tree %d says otherwise", c.A, c.B, believed, c.Seconds*1e6, c.Doubted+1)
}

// Unknown is a pair of places below one parent, switches or nodes, of which nothing in
// one was ever measured with anything in the other: they may belong to one switch.
type Unknown struct {
	A string `json:"a"`
	B string `json:"b"`
}

// Merge joins trees that jobs measured, each of the nodes that it had. Levels of
// different jobs are one when their times are (within 10 %, and within half the step
// between two levels of one job). At each level nodes are together when a chain of jobs
// says so, unless a job with more confidence put some of them apart. A switch without
// confidence says nothing about its children.
//
// Of a node's inside the tree with most detail is believed. The gaps of all trees are
// kept, and what stays open is added to them.
//
// It returns an error matching ErrTree when there is no tree, when one does not pass
// Check, or when a switch with several children and confidence has no time.
// O(levels · nodes of all trees), and the square of the places below one parent.
func Merge(trees []Tree) (Merged, error) {
	if len(trees) == 0 {
		return Merged{}, fmt.Errorf("%w: nothing to merge", ErrTree)
	}
	for i := range trees {
		if err := trees[i].measured(); err != nil {
			return Merged{}, fmt.Errorf("tree %d: %w", i+1, err)
		}
	}
	m := newMerger(trees)
	for level := range m.scale.seconds {
		for _, tree := range m.order {
			m.hear(tree, level)
		}
		m.close(level)
	}
	root := m.root()
	return Merged{Tree: Tree{Root: root, Gaps: m.gaps}, Conflicts: m.conflicts, Unknown: m.unknown}, nil
}

// measured checks that the tree can be merged.
func (t *Tree) measured() error {
	if err := t.Check(); err != nil {
		return err
	}
	for v := range t.All() {
		if v.Kind == Switch && len(v.Children) > 1 && v.Confidence > 0 && v.Seconds == 0 {
			return fmt.Errorf("%w: %s has no time: want a measured tree", ErrTree, v)
		}
	}
	return nil
}

// merger builds the tree level by level, from the nodes up.
type merger struct {
	trees []Tree
	scale scale
	order []int // of the trees, the most confident first
	nodes []string
	of    map[string]*class // of each node, at the level being joined

	conflicts []Conflict
	unknown   []Unknown
	gaps      []string
}

// class is a set of nodes that are together at a level.
type class struct {
	nodes      []string
	parts      []part
	places     places
	stated     bool // some tree has a switch for it at this level
	confidence float64
}

// part is what a finer level made of some nodes.
type part struct {
	vertex Vertex
	first  int // number of its first node
	places places
}

// places says where the trees have some nodes at one level: the group they are in, by
// the switch within which that tree holds its groups to be apart.
type places map[*Vertex]spot

type spot struct {
	group *Vertex
	node  string // one of the nodes that are in it
}

// apart reports whether a tree says that two sets of nodes are in different groups.
func (p places) apart(o places) bool {
	for within, here := range p {
		if there, both := o[within]; both && there.group != here.group {
			return true
		}
	}
	return false
}

// known reports whether a tree says anything about two sets of nodes together.
func (p places) known(o places) bool {
	for within := range p {
		if _, both := o[within]; both {
			return true
		}
	}
	return false
}

func newMerger(trees []Tree) *merger {
	m := &merger{trees: trees, scale: newScale(trees), of: map[string]*class{}}
	for i := range trees {
		m.order = append(m.order, i)
		for _, gap := range trees[i].Gaps {
			m.gaps = append(m.gaps, fmt.Sprintf("job %d: %s", i+1, gap))
		}
	}
	slices.SortStableFunc(m.order, func(a, b int) int {
		return cmp.Compare(trees[b].confidence(), trees[a].confidence())
	})
	nodes, gaps := insides(trees)
	m.gaps = append(m.gaps, gaps...)
	for i, v := range nodes {
		m.nodes = append(m.nodes, v.Name)
		m.of[v.Name] = &class{nodes: []string{v.Name}, parts: []part{{vertex: v, first: i}}, places: places{}, confidence: 1}
	}
	return m
}

// insides returns every node once, with the inside that has most places, and says
// which nodes the trees disagree on.
func insides(trees []Tree) (nodes []Vertex, gaps []string) {
	at := map[string]int{}
	for i := range trees {
		for v := range trees[i].All() {
			if v.Kind != Node {
				continue
			}
			k, seen := at[v.Name]
			if !seen {
				at[v.Name] = len(nodes)
				nodes = append(nodes, *v)
				continue
			}
			if len(v.Children) > 0 && len(nodes[k].Children) > 0 && !sameShape(*v, nodes[k]) {
				gaps = append(gaps, fmt.Sprintf("the inside of node %s differs between jobs", v.Name))
			}
			if v.below() > nodes[k].below() {
				nodes[k] = *v
			}
		}
	}
	slices.Sort(gaps)
	return nodes, slices.Compact(gaps)
}

// sameShape compares kinds and names, not times.
func sameShape(a, b Vertex) bool {
	return a.Kind == b.Kind && a.Name == b.Name && slices.EqualFunc(a.Children, b.Children, sameShape)
}

// confidence is the least of the clear switches.
func (t *Tree) confidence() float64 {
	least := 1.0
	for v := range t.All() {
		if v.clear() {
			least = min(least, v.Confidence)
		}
	}
	return least
}

// group is some nodes that a tree has together at a level.
type group struct {
	top    *Vertex // the switch or node that holds them
	within *Vertex // the outermost switch between whose groups the tree tells clearly
	nodes  []string
}

// groups returns the groups of a tree at a level.
func (m *merger) groups(tree, level int) []group {
	var out []group
	var descend func(v, within *Vertex)
	descend = func(v, within *Vertex) {
		if v.Kind == Switch && !v.clear() {
			within = nil
		} else if within == nil {
			within = v
		}
		if v.Kind == Node || v.clear() && m.scale.of[tree][v.Seconds] <= level {
			below := Tree{Root: *v}
			out = append(out, group{top: v, within: within, nodes: below.Nodes()})
			return
		}
		for i := range v.Children {
			descend(&v.Children[i], within)
		}
	}
	descend(&m.trees[tree].Root, nil)
	return out
}

// hear takes in what a tree says at a level: first what is together, then what is
// apart, so that a conflict with trees heard before is seen whichever of the two it is.
func (m *merger) hear(tree, level int) {
	groups := m.groups(tree, level)
	for _, g := range groups {
		own := g.top.Kind == Switch && m.scale.of[tree][g.top.Seconds] == level
		for _, node := range g.nodes {
			a, b := m.of[g.nodes[0]], m.of[node]
			switch {
			case a == b:
			case a.places.apart(b.places):
				m.conflicts = append(m.conflicts, Conflict{A: g.nodes[0], B: node, Seconds: m.scale.seconds[level], Doubted: tree})
			default:
				m.join(a, b)
			}
			if c := m.of[node]; own {
				c.stated, c.confidence = true, min(c.confidence, g.top.Confidence)
			}
		}
	}
	for _, g := range groups {
		for _, node := range g.nodes {
			m.place(node, g, Conflict{Seconds: m.scale.seconds[level], Together: true, Doubted: tree})
		}
	}
}

// join puts the smaller class into the larger one.
func (m *merger) join(a, b *class) {
	if len(a.nodes) < len(b.nodes) {
		a, b = b, a
	}
	for _, node := range b.nodes {
		m.of[node] = a
	}
	a.nodes = append(a.nodes, b.nodes...)
	a.parts = append(a.parts, b.parts...)
	maps.Copy(a.places, b.places)
	a.stated, a.confidence = a.stated || b.stated, min(a.confidence, b.confidence)
}

// place notes where a tree has a node. A class that holds a node of another group of
// that tree already is a conflict.
func (m *merger) place(node string, g group, conflict Conflict) {
	c := m.of[node]
	other, seen := c.places[g.within]
	if !seen {
		c.places[g.within] = spot{group: g.top, node: node}
		return
	}
	if other.group != g.top {
		conflict.A, conflict.B = other.node, node
		m.conflicts = append(m.conflicts, conflict)
	}
}

// classes returns the classes in the order of their first nodes.
func (m *merger) classes() []*class {
	var out []*class
	seen := map[*class]bool{}
	for _, node := range m.nodes {
		if c := m.of[node]; !seen[c] {
			seen[c] = true
			out = append(out, c)
		}
	}
	return out
}

// close makes a switch of every class that a tree has one for, and starts the next
// level with what was made.
func (m *merger) close(level int) {
	count := 0
	for _, c := range m.classes() {
		slices.SortFunc(c.parts, func(a, b part) int { return a.first - b.first })
		m.doubt(c.parts)
		if c.stated {
			count++
			v := Vertex{
				Kind:       Switch,
				Name:       fmt.Sprintf("%s%d-%d", Switch, level, count),
				Seconds:    m.scale.seconds[level],
				Confidence: c.confidence,
			}
			for _, p := range c.parts {
				v.Children = append(v.Children, p.vertex)
			}
			c.parts = []part{{vertex: v, first: c.parts[0].first}}
		}
		for i := range c.parts {
			c.parts[i].places = c.places
		}
		c.places, c.stated, c.confidence = places{}, false, 1
	}
}

// doubt notes which parts of one class were never measured together. The nodes of the
// lowest level are together whether they were or not.
func (m *merger) doubt(parts []part) {
	before := len(m.unknown)
	for i, a := range parts {
		for _, b := range parts[:i] {
			if a.places != nil && b.places != nil && !a.places.known(b.places) {
				m.unknown = append(m.unknown, Unknown{A: b.vertex.Name, B: a.vertex.Name})
			}
		}
	}
	if n := len(m.unknown) - before; n > 0 {
		first := m.unknown[before]
		m.gaps = append(m.gaps, fmt.Sprintf("%s below one switch never measured together, %s and %s first: they may be one",
			plural(n, "pair"), first.A, first.B))
	}
}

// root returns the one switch that holds all, or one without a name and confidence
// above what no job joins.
func (m *merger) root() Vertex {
	var top []part
	for _, c := range m.classes() {
		top = append(top, c.parts...)
	}
	if len(top) == 1 && top[0].vertex.Kind == Switch {
		return top[0].vertex
	}
	m.doubt(top)
	root := Vertex{Kind: Switch}
	for _, p := range top {
		root.Children = append(root.Children, p.vertex)
	}
	return root
}
