package topology

import "fmt"

// Division divides the members into groups, as one level of a tree.
type Division struct {
	Kind       Kind    // kind of the groups
	Groups     []int   // group number of each member
	Seconds    float64 // round trip between members that share a group here and in no finer division
	Confidence float64 // confidence of these groups, 0 to 1
}

// Build returns a tree in which nested divisions group the members below root. The divisions are ordered
// from the coarsest to the finest. Build names groups by kind, height and number, for example switch0-1. It
// replaces the children of root.
//
// It returns an error if a division does not have a group for each member, if a group lies in two coarser
// groups, or if the tree does not pass Check.
func Build(root Vertex, members []Vertex, divisions []Division) (Tree, error) {
	coarser := make([]int, len(members)) // the root is one group
	for i, d := range divisions {
		if err := nested(d.Groups, coarser, len(members)); err != nil {
			return Tree{}, fmt.Errorf("division %d: %w", i+1, err)
		}
		coarser = d.Groups
	}
	all := make([]int, len(members))
	for i := range all {
		all[i] = i
	}
	b := builder{members: members, count: make([]int, len(divisions))}
	root.Children = b.below(all, divisions)
	t := Tree{Root: root}
	return t, t.Check()
}

// nested returns an error unless each group lies within one coarser group.
func nested(groups, coarser []int, members int) error {
	if len(groups) != members {
		return fmt.Errorf("%d groups: want one for each of %d members", len(groups), members)
	}
	within := map[int]int{}
	for i, g := range groups {
		if c, seen := within[g]; seen && c != coarser[i] {
			return fmt.Errorf("group %d lies in two groups of the coarser division", g)
		}
		within[g] = coarser[i]
	}
	return nil
}

type builder struct {
	members []Vertex
	count   []int // number of named groups, by height
}

// below groups the given members by the divisions, which are those not used yet. It returns the vertices of
// the outermost groups.
func (b *builder) below(some []int, divisions []Division) []Vertex {
	if len(divisions) == 0 {
		out := make([]Vertex, len(some))
		for i, m := range some {
			out[i] = b.members[m]
		}
		return out
	}
	d, height := divisions[0], len(divisions)-1
	var out []Vertex
	for _, group := range split(some, d.Groups) {
		b.count[height]++
		out = append(out, Vertex{
			Kind:       d.Kind,
			Name:       fmt.Sprintf("%s%d-%d", d.Kind, height, b.count[height]),
			Seconds:    d.Seconds,
			Confidence: d.Confidence,
			Children:   b.below(group, divisions[1:]),
		})
	}
	return out
}

// split returns the members of each group. The groups are in the order of their first members.
func split(some, groups []int) [][]int {
	var out [][]int
	at := map[int]int{}
	for _, m := range some {
		i, seen := at[groups[m]]
		if !seen {
			i = len(out)
			at[groups[m]] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], m)
	}
	return out
}

// Graft replaces the tree's node that has the same name by the given node and its children. The error
// matches ErrTree if there is no such node, or if the tree does not pass Check afterwards.
func (t *Tree) Graft(node Vertex) error {
	for v := range t.All() {
		if v.Kind == Node && v.Name == node.Name {
			*v = node
			return t.Check()
		}
	}
	return fmt.Errorf("%w: no %s to put the inside of", ErrTree, &node)
}
