package benchrunner

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Load is a start of a parallel program as Pack sees it.
type Load struct {
	Nodes   int
	Seconds float64
}

// Room is the nodes of a job on which starts run side by side.
type Room struct {
	Nodes int
	// Groups is how many nodes each switch has among them. A start then has the
	// groups that it is on to itself, and of those that span groups, whose messages
	// meet above the switches, one runs at a time. None: starts on any disjoint nodes
	// run beside each other.
	Groups []int
}

// Packed is a schedule.
type Packed struct {
	Order    []int     // indices of loads: whenever nodes are free, the first that fits begins
	Begins   []float64 // of each load, seconds
	Makespan float64   // seconds from the first begin to the last end
}

// Busy is the share of the node-seconds of a job of so many nodes that the loads use.
func (p Packed) Busy(nodes int, loads []Load) float64 {
	used := 0.0
	for _, l := range loads {
		used += float64(l.Nodes) * l.Seconds
	}
	if held := float64(nodes) * p.Makespan; held > 0 {
		return used / held
	}
	return 1
}

// Pack schedules loads: the better of the longest first and the widest first, each
// beginning as soon as there is room. Its makespan is at most twice the shortest one
// where there are no groups (Garey and Graham, SIAM Journal on Computing 4, 1975). The
// order does for a script that does not know the times. It returns an error for a load
// that never fits. O(n²) steps.
func (r Room) Pack(loads []Load) (Packed, error) {
	order := make([]int, len(loads))
	if err := r.validate(); err != nil {
		return Packed{}, err
	}
	for i, l := range loads {
		order[i] = i
		if l.Nodes < 1 || l.Nodes > r.Nodes || !(l.Seconds >= 0) || math.IsInf(l.Seconds, 1) {
			return Packed{}, fmt.Errorf("%d nodes for %g s: want 1 to %d nodes and a time", l.Nodes, l.Seconds, r.Nodes)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(loads[b].Seconds, loads[a].Seconds), cmp.Compare(loads[b].Nodes, loads[a].Nodes))
	})
	best := r.list(loads, order)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(loads[b].Nodes, loads[a].Nodes) })
	if widest := r.list(loads, order); widest.Makespan <= best.Makespan {
		best = widest
	}
	return best, nil
}

func (r Room) validate() error {
	if r.Groups == nil {
		return nil
	}
	sum := 0
	for _, size := range r.Groups {
		if size < 1 {
			return fmt.Errorf("groups of %v nodes: want one node or more in each", r.Groups)
		}
		sum += size
	}
	if sum != r.Nodes {
		return fmt.Errorf("groups of %v nodes: want %d together", r.Groups, r.Nodes)
	}
	return nil
}

// running is a load that holds nodes.
type running struct {
	end   float64
	taken []int // groups, or none
	nodes int
}

// list schedules in an order that it keeps for its result.
func (r Room) list(loads []Load, order []int) Packed {
	p := Packed{Order: slices.Clone(order), Begins: make([]float64, len(loads))}
	free := r.state()
	waiting := slices.Clone(order)
	var now float64
	var active []running
	for len(waiting) > 0 {
		rest := waiting[:0]
		for k, i := range waiting {
			if free.nodes == 0 {
				rest = append(rest, waiting[k:]...)
				break
			}
			taken, ok := free.take(loads[i].Nodes)
			if !ok {
				rest = append(rest, i)
				continue
			}
			p.Begins[i] = now
			active = append(active, running{now + loads[i].Seconds, taken, loads[i].Nodes})
		}
		waiting = rest
		next := slices.MinFunc(active, func(a, b running) int { return cmp.Compare(a.end, b.end) }).end
		now = next
		active = slices.DeleteFunc(active, func(a running) bool {
			if a.end <= next {
				free.give(a)
			}
			return a.end <= next
		})
	}
	for i, l := range loads {
		p.Makespan = max(p.Makespan, p.Begins[i]+l.Seconds)
	}
	return p
}

// vacancy is what is free of a Room.
type vacancy struct {
	nodes  int   // free
	groups []int // sizes
	busy   []bool
	spans  bool // a start spans groups
}

func (r Room) state() *vacancy {
	return &vacancy{nodes: r.Nodes, groups: r.Groups, busy: make([]bool, len(r.Groups))}
}

// take finds nodes for a start: the smallest group that holds it, or when none is
// large enough, several, the largest first.
func (v *vacancy) take(nodes int) (taken []int, ok bool) {
	if v.groups == nil {
		if nodes > v.nodes {
			return nil, false
		}
		v.nodes -= nodes
		return nil, true
	}
	if nodes > slices.Max(v.groups) {
		taken, ok = v.span(nodes)
	} else {
		taken, ok = v.within(nodes)
	}
	for _, g := range taken {
		v.busy[g] = true
		v.nodes -= v.groups[g]
	}
	return taken, ok
}

func (v *vacancy) within(nodes int) ([]int, bool) {
	best := -1
	for g, size := range v.groups {
		if !v.busy[g] && size >= nodes && (best < 0 || size < v.groups[best]) {
			best = g
		}
	}
	if best < 0 {
		return nil, false
	}
	return []int{best}, true
}

func (v *vacancy) span(nodes int) ([]int, bool) {
	var free []int
	for g := range v.groups {
		if !v.busy[g] {
			free = append(free, g)
		}
	}
	slices.SortStableFunc(free, func(a, b int) int { return cmp.Compare(v.groups[b], v.groups[a]) })
	for k, g := range free {
		if nodes -= v.groups[g]; nodes <= 0 && !v.spans {
			v.spans = true
			return free[:k+1], true
		}
	}
	return nil, false
}

// give ends a start.
func (v *vacancy) give(a running) {
	if v.groups == nil {
		v.nodes += a.nodes
	}
	for _, g := range a.taken {
		v.busy[g] = false
		v.nodes += v.groups[g]
	}
	if len(a.taken) > 1 {
		v.spans = false
	}
}
