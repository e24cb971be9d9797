package schedule

import (
	"cmp"
	"slices"

	"tutti/topology"
)

// Message goes from one rank to another.
type Message struct{ From, To int }

// Phase is messages that no link is too narrow for.
type Phase []Message

// Alltoall returns phases in which each rank, given the node of each, sends one message
// to each other one. No phase has two messages that take the same link in the same
// direction, and there are as few phases as can be: m·(n−m) for n ranks and the link that
// parts them most evenly into m and n−m, which all of those messages have to take.
//
// It returns the errors of Ring. O(n²) time and memory.
func Alltoall(t *topology.Tree, nodes []string) ([]Phase, error) {
	root, err := placed(t, nodes)
	if err != nil {
		return nil, err
	}
	groups := root.groups(len(nodes))
	if len(groups) == 1 { // a single rank
		return nil, nil
	}
	s := newScheduler(groups)
	for j := 1; j < len(groups); j++ {
		s.fromFirst(j)
	}
	for i := 1; i < len(groups); i++ {
		s.toFirst(i)
		for j := 1; j < len(groups); j++ {
			if i != j {
				s.between(i, j)
			}
		}
	}
	return s.phases, nil
}

// groups returns the ranks on each side of the switch or node that no side of has more
// than half of all ranks, the largest side first.
func (p *place) groups(all int) [][]int {
	var above []int
	at := p
	for {
		heavy := slices.IndexFunc(at.below, func(c *place) bool { return 2*len(c.depthFirst()) > all })
		if heavy < 0 {
			break
		}
		for i, c := range at.below {
			if i != heavy {
				above = append(above, c.depthFirst()...)
			}
		}
		at = at.below[heavy]
	}
	groups := [][]int{above}
	for _, rank := range at.ranks {
		groups = append(groups, []int{rank})
	}
	for _, c := range at.below {
		groups = append(groups, c.depthFirst())
	}
	groups = slices.DeleteFunc(groups, func(g []int) bool { return len(g) == 0 })
	slices.SortStableFunc(groups, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	return groups
}

// scheduler puts messages into phases. Between groups each message takes the links up
// to the middle and down again, so a group sends one and receives one in a phase at
// most. Messages from group i to group j have the phases that extended ring scheduling
// gives them, |i|·|j| in a row.
//
// Where a group's member m sends to another group, a message within the group to m
// takes none of the same links, from any member when nothing comes into the group and
// from the member that receives when something does. So it is enough to see to it that
// all pairs of members come to meet as sender and receiver:
//
//   - A group j but the first receives in phase p with member p mod |j| whoever sends,
//     and to the first group it sends |first| ≥ |j| messages of one member in a row.
//   - The first group, of a members, has a phase for each of its messages, and all of
//     them in stretches of a. In each stretch every member sends once and receives once,
//     member m to what lies outside while member m−q receives in stretch q. There are
//     a stretches or more, as no group has more than half of all ranks.
type scheduler struct {
	groups   [][]int
	behind   []int // ranks in each group and those behind it
	phases   []Phase
	receiver []int // member of the first group, in each phase
}

func newScheduler(groups [][]int) *scheduler {
	s := &scheduler{groups: groups, behind: make([]int, len(groups)+1)}
	for i := len(groups) - 1; i >= 0; i-- {
		s.behind[i] = s.behind[i+1] + len(groups[i])
	}
	phases := len(groups[0]) * s.behind[1]
	s.phases, s.receiver = make([]Phase, phases), make([]int, phases)
	return s
}

func (s *scheduler) send(phase, from, to int) {
	s.phases[phase] = append(s.phases[phase], Message{From: from, To: to})
}

// start returns the first phase of the messages from group i to group j.
func (s *scheduler) start(i, j int) int {
	if i < j {
		return len(s.groups[i]) * (s.behind[i+1] - s.behind[j])
	}
	return len(s.phases) - len(s.groups[j])*(s.behind[j+1]-s.behind[i+1])
}

// fromFirst schedules what the first group, of a members, sends to group j, of b, and
// meanwhile within itself.
//
// The b stretches have the members in one order, each as often as it takes until all
// receivers come again: they are the multiples of the common divisor of a and b. So many
// orders, each starting one member later, reach the others.
func (s *scheduler) fromFirst(j int) {
	first, group := s.groups[0], s.groups[j]
	a, b := len(first), len(group)
	orders := divisor(a, b)
	for k := range a * b {
		p := s.start(0, j) + k
		sender := (k%a + k/a/(b/orders)) % a
		s.send(p, first[sender], group[p%b])
		stretch := p / a
		s.receiver[p] = (sender + a - stretch%a) % a
		if 0 < stretch && stretch < a {
			s.send(p, first[s.receiver[p]], first[sender])
		}
	}
}

// toFirst schedules what group i sends to the first group, and meanwhile within itself.
func (s *scheduler) toFirst(i int) {
	first, group := s.groups[0], s.groups[i]
	for k := range len(group) * len(first) {
		p := s.start(i, 0) + k
		sender, turn := k/len(first), k%len(first)
		s.send(p, group[sender], first[s.receiver[p]])
		if own := p % len(group); turn < len(group) && own != sender {
			s.send(p, group[own], group[sender])
		}
	}
}

// between schedules what group i sends to group j, neither of them the first.
func (s *scheduler) between(i, j int) {
	group, other := s.groups[i], s.groups[j]
	for k := range len(group) * len(other) {
		p := s.start(i, j) + k
		s.send(p, group[k/len(other)], other[p%len(other)])
	}
}

// divisor returns the greatest common divisor.
func divisor(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
