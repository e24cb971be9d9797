package live

import (
	"cmp"
	"slices"
)

// load is a launch that pack schedules.
type load struct {
	Nodes   int
	Seconds float64 // upper bound of its duration
}

// nodePool describes the nodes of a job on which several launches are concurrent.
type nodePool struct {
	Nodes int
	// Groups has the number of nodes of each switch. Each launch then uses whole groups, which it shares
	// with no other launch. Only one launch at a time spans several groups, since its messages share the
	// links between switches. If Groups is nil, each node is a group, and launches run on any disjoint
	// nodes.
	Groups []int
}

// packing is a schedule that says when and where each load of a job runs.
type packing struct {
	Places   []place // in the order in which the loads begin
	Makespan float64 // upper bound of the seconds from the first begin to the last end
}

// place says when a load begins, and on which groups of nodes.
type place struct {
	Load   int     // index of the load
	Begin  float64 // seconds after the begin of the job; an upper bound
	Groups []int   // indices of the load's groups, in the order in which its ranks fill them
	After  []int   // indices of places, ascending: loads that must end before this load begins
}

// utilisation returns the fraction of a job's node-seconds that the loads use. `nodes` is the
// number of nodes of the job.
func (p packing) utilisation(nodes int, loads []load) float64 {
	used := 0.0
	for _, l := range loads {
		used += float64(l.Nodes) * l.Seconds
	}
	if allocated := float64(nodes) * p.Makespan; allocated > 0 {
		return used / allocated
	}
	return 1
}

// pack schedules loads, each as early as possible. It tries two orders, longest load first and widest load
// first, and returns the better schedule. Without groups the makespan is at most twice the shortest possible
// one (Garey and Graham, SIAM Journal on Computing 4, 1975). It takes O(n²) steps for n loads.
//
// Every load must have 1 to r.Nodes nodes, and the groups must have r.Nodes together. Otherwise pack panics.
//
// Each load keeps its planned groups and begins when the earlier loads on these groups have ended. If other
// loads end early, no load begins later than planned. Schedules without fixed groups do not have this property
// (Graham's anomalies, SIAM Journal on Applied Mathematics 17, 1969).
func (r nodePool) pack(loads []load) packing {
	order := make([]int, len(loads))
	for i := range loads {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(loads[b].Seconds, loads[a].Seconds), cmp.Compare(loads[b].Nodes, loads[a].Nodes))
	})
	best := r.list(loads, order)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(loads[b].Nodes, loads[a].Nodes) })
	if widest := r.list(loads, order); widest.Makespan <= best.Makespan {
		best = widest
	}
	return best
}

// list schedules the loads in the given order. Whenever groups become free, it starts the first waiting load for
// which there are enough.
func (r nodePool) list(loads []load, order []int) packing {
	p := packing{Places: make([]place, 0, len(loads))}
	end := func(i int) float64 { return p.Places[i].Begin + loads[p.Places[i].Load].Seconds }
	free := r.freeNodes()
	waiting := slices.Clone(order)
	var running []int // indices of places
	for now := 0.0; len(waiting) > 0; {
		rest := waiting[:0]
		for k, load := range waiting {
			if free.nodes == 0 {
				rest = append(rest, waiting[k:]...)
				break
			}
			groups := free.find(loads[load].Nodes)
			if groups == nil {
				rest = append(rest, load)
				continue
			}
			i := len(p.Places)
			p.Places = append(p.Places, place{load, now, groups, free.allocate(groups, i)})
			running = append(running, i)
			p.Makespan = max(p.Makespan, end(i))
		}
		waiting = rest
		now = end(slices.MinFunc(running, func(i, k int) int { return cmp.Compare(end(i), end(k)) }))
		running = slices.DeleteFunc(running, func(i int) bool {
			if end(i) > now {
				return false
			}
			free.release(p.Places[i].Groups)
			return true
		})
	}
	return p
}
