package topology

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Merged is the tree that Merge makes of several trees, with the pairs of nodes for which the trees disagree.
type Merged struct {
	Tree      Tree
	Conflicts []Conflict
	Unknown   int // number of pairs of switches or nodes with the same parent that no tree compares; they may belong to one switch
}

// Conflict is a pair of nodes that two trees place differently. One tree places both nodes in the same
// group, and the other tree places them in different groups.
type Conflict struct {
	A         string  `json:"a"`
	B         string  `json:"b"`
	Seconds   float64 `json:"seconds"`    // round-trip time of the level of the groups
	Together  bool    `json:"together"`   // the merged tree has both nodes in the same group
	OtherTree int     `json:"other_tree"` // index of the tree that disagrees with the merged tree
}

// String describes the conflict in one sentence.
func (c Conflict) String() string {
	believed := "apart"
	if c.Together {
		believed = "together"
	}
	return fmt.Sprintf("%s and %s: believed to be %s at %s, tree %d says otherwise", c.A, c.B, believed, micros(c.Seconds), c.OtherTree+1)
}

// Merge combines measured trees of different jobs, which may have different nodes.
//
// Levels of different jobs count as the same if their times are close: they differ by at most 10 %, and by at
// most half the step between two levels of a job. If one job has nodes a and b in one group of a level, and
// another job has b and c there, then all three are in one group. Only a job with higher confidence can place
// them in different groups. Switches with confidence 0 do not affect the result.
//
// The inside of a node comes from the tree that has the most vertices there. The gaps of the result are the
// gaps of all trees, and the pairs of nodes that no tree compares.
//
// The error matches ErrTree if there are no trees or a tree does not pass Check. It also matches if a switch
// has a confidence above 0 but no time, or if two trees are different parts of a single node. Merge takes O(levels · nodes of all trees) time, plus the square of the
// number of children of each vertex.
func Merge(trees []Tree) (Merged, error) {
	if len(trees) == 0 {
		return Merged{}, fmt.Errorf("%w: nothing to merge", ErrTree)
	}
	trees = oneSpelling(trees)
	for i := range trees {
		if err := trees[i].checkMeasured(); err != nil {
			return Merged{}, fmt.Errorf("tree %d: %w", i+1, err)
		}
		for k := range i {
			if a, b := trees[k].Root, trees[i].Root; a.Kind == Node && b.Kind == Node && a.Name == b.Name && !sameShape(a, b) {
				return Merged{}, fmt.Errorf("%w: trees %d and %d are different parts of the node %s: want one file of the whole node", ErrTree, k+1, i+1, a.Name)
			}
		}
	}
	m := newMerger(trees)
	for level := range m.scale.seconds {
		for _, tree := range m.order {
			m.addTree(tree, level)
		}
		m.finishLevel(level)
	}
	root := m.root()
	return Merged{Tree: Tree{Root: root, Gaps: m.gaps}, Conflicts: m.conflicts, Unknown: m.unknown}, nil
}

// oneSpelling returns copies of the trees in which each node has one name. The first spelling counts.
func oneSpelling(trees []Tree) []Tree {
	first := map[string]string{} // by folded name
	out := slices.Clone(trees)
	for i := range trees {
		name := map[string]string{}
		for _, node := range trees[i].Nodes() {
			if _, known := first[Fold(node)]; !known {
				first[Fold(node)] = node
			}
			name[node] = first[Fold(node)]
		}
		out[i].Root = trees[i].Root.withNames(name)
	}
	return out
}

// checkMeasured returns an error if the tree does not pass Check. It also returns an error if a switch has
// a confidence above 0 but no time.
func (t *Tree) checkMeasured() error {
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

type merger struct {
	trees []Tree
	scale scale
	order []int // indices of the trees, the most confident first
	nodes []string
	of    map[string]*class // the class of each node at the current level

	conflicts []Conflict
	unknown   int
	gaps      []string
}

// class is a set of nodes in one group.
type class struct {
	nodes      []string
	parts      []part
	places     placements
	stated     bool // some tree has a switch for the class at this level
	confidence float64
}

// part is a vertex of the merged tree that has no parent yet. Its parent will be the switch for a class.
type part struct {
	vertex Vertex
	first  int // index of its first node
	places placements
}

// placements says in which groups the trees have some nodes at one level. A key is the outermost switch of a tree
// that clearly separates groups. If two sets of nodes have the same key, this tree says whether they are in the same
// group.
type placements map[*Vertex]placement

type placement struct {
	group *Vertex
	node  string // one of the nodes in the group
}

func (p placements) apart(o placements) bool {
	for within, here := range p {
		if there, both := o[within]; both && there.group != here.group {
			return true
		}
	}
	return false
}

// comparable reports whether some tree shows how two sets of nodes are related: in one group or in different groups.
// Such a tree has nodes of both sets below one switch with a confidence above 0.
func (p placements) comparable(o placements) bool {
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
	nodes, gaps := mergeNodes(trees)
	m.gaps = append(m.gaps, gaps...)
	for i, v := range nodes {
		m.nodes = append(m.nodes, v.Name)
		m.of[v.Name] = &class{nodes: []string{v.Name}, parts: []part{{vertex: v, first: i}}, places: placements{}, confidence: 1}
	}
	return m
}

// mergeNodes returns each node once, even if several trees contain it. The children of a node then come from the tree
// with the most vertices below this node. The result `gaps` names the nodes below which the trees differ.
func mergeNodes(trees []Tree) (nodes []Vertex, gaps []string) {
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

// sameShape reports whether two vertices and everything below them have equal kinds and names. Times may
// differ.
func sameShape(a, b Vertex) bool {
	return a.Kind == b.Kind && a.Name == b.Name && slices.EqualFunc(a.Children, b.Children, sameShape)
}

func (t *Tree) confidence() float64 {
	least := 1.0
	for v := range t.All() {
		if v.clear() {
			least = min(least, v.Confidence)
		}
	}
	return least
}

type group struct {
	top    *Vertex // the switch or node above the group
	within *Vertex // the outermost switch that separates the group clearly from others
	nodes  []string
}

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

// addTree first joins the classes that a tree has in the same group of a level. If earlier trees separate them, this is
// a conflict. It then records which nodes the tree has in different groups. If such nodes are in the same class, this
// is a conflict, too.
func (m *merger) addTree(tree, level int) {
	groups := m.groups(tree, level)
	for _, g := range groups {
		own := g.top.Kind == Switch && m.scale.of[tree][g.top.Seconds] == level
		for _, node := range g.nodes {
			a, b := m.of[g.nodes[0]], m.of[node]
			switch {
			case a == b:
			case a.places.apart(b.places):
				m.conflicts = append(m.conflicts, Conflict{A: g.nodes[0], B: node, Seconds: m.scale.seconds[level], OtherTree: tree})
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
			m.place(node, g, Conflict{Seconds: m.scale.seconds[level], Together: true, OtherTree: tree})
		}
	}
}

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

// place records in which group of a tree the given node is. It adds a conflict if the tree has another node of the same
// class in a different group.
func (m *merger) place(node string, g group, conflict Conflict) {
	c := m.of[node]
	other, seen := c.places[g.within]
	if !seen {
		c.places[g.within] = placement{group: g.top, node: node}
		return
	}
	if other.group != g.top {
		conflict.A, conflict.B = other.node, node
		m.conflicts = append(m.conflicts, conflict)
	}
}

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

// finishLevel creates a switch for each class for which some tree has a switch at this level. The parts of the class
// become its children. The next level then treats it as one part.
func (m *merger) finishLevel(level int) {
	count := 0
	for _, c := range m.classes() {
		slices.SortFunc(c.parts, func(a, b part) int { return a.first - b.first })
		m.noteUnknown(c.parts)
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
		c.places, c.stated, c.confidence = placements{}, false, 1
	}
}

// noteUnknown counts the pairs of parts of a class for which no tree says whether they belong together. At the lowest
// level it counts none, because all parts are single nodes.
func (m *merger) noteUnknown(parts []part) {
	count, first := 0, ""
	for i, a := range parts {
		for _, b := range parts[:i] {
			if a.places != nil && b.places != nil && !a.places.comparable(b.places) {
				count++
				first = cmp.Or(first, b.vertex.Name+" and "+a.vertex.Name)
			}
		}
	}
	if m.unknown += count; count > 0 {
		m.gaps = append(m.gaps, fmt.Sprintf("%s below one switch never measured together, %s first: they may be one", plural(count, "pair"), first))
	}
}

// root returns the switch above all nodes. If no job connects all of them, it returns a root without a name
// and with confidence 0.
func (m *merger) root() Vertex {
	var top []part
	for _, c := range m.classes() {
		top = append(top, c.parts...)
	}
	if len(top) == 1 && top[0].vertex.Kind == Switch {
		return top[0].vertex
	}
	m.noteUnknown(top)
	root := Vertex{Kind: Switch}
	for _, p := range top {
		root.Children = append(root.Children, p.vertex)
	}
	return root
}
