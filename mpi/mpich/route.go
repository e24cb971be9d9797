package mpich

import (
	"fmt"
	"slices"

	"tutti/coll"
	"tutti/mpi"
)

// files holds the two selection trees. MPICH evaluates the device tree first, which selects a composition (a
// plan). Without a device tree there are no compositions.
type files struct {
	flat, device treeObject
}

func (b build) shipped() files { return files{b.lib.Tree, b.lib.Device} }

// route lists what MPICH runs for one call. This is either one algorithm on the whole communicator, or several
// algorithms on parts of it. A composition is a plan of MPICH's ch4 device for such parts.
type route struct {
	composition string           // leaf of the device's tree, empty when there is none
	flat        coll.Algorithm   // on the whole communicator, unless it is split
	parts       []coll.Algorithm // on the communicators of the parts
}

func (r route) equal(o route) bool {
	return r.composition == o.composition && r.flat == o.flat && slices.Equal(r.parts, o.parts)
}

func (r route) String() string {
	return fmt.Sprintf("%s %s %v", r.composition, r.flat, r.parts)
}

// splits reports whether MPICH can implement a collective as several parts, in compositions (plans of the
// ch4 device) or in its smp algorithms. Source: ch4_coll_impl.h of 4.0.2.
func splits(c coll.Collective) bool { return len(partsOf(c)) > 0 }

// step is a part of a collective: a call of the same or another collective on a part of the communicator.
type step struct {
	collective coll.Collective
	where      hierarchy
}

func partsOf(c coll.Collective) []step {
	switch c {
	case coll.Bcast, coll.Reduce:
		return []step{{c, rootsKind}, {c, nodeKind}}
	case coll.Allreduce:
		return []step{{c, rootsKind}, {coll.Reduce, nodeKind}, {coll.Bcast, nodeKind}}
	case coll.Barrier, coll.Scan:
		return []step{{c, rootsKind}, {c, nodeKind}, {coll.Bcast, nodeKind}}
	}
	return nil
}

// mixes reports whether selection files can treat the points of a collective in two ways: with a composition,
// which consists of parts, at some points, and with one algorithm on the whole communicator at others.
func (b build) mixes(c coll.Collective) bool {
	_, ok := handsOn(b.cat, c)
	return ok && len(b.lib.Device) > 0
}

// partsAreFlat reports whether communicators of parts (between or within nodes) count as communicators without
// nodes, as since 5.0. Conditions comm_avg_ppn<=N are then false for them. The conditions
// comm_hierarchy=node_roots and comm_hierarchy=node are true for every communicator that is not a parent.
func (b build) partsAreFlat() bool { return mpi.AtLeast(b.cat.Version, 5) }

// callAt returns the properties of the benchmark's call at a point, with as many nodes as ranks if the build
// takes each rank for a node.
func (b build) callAt(p coll.Point) signature {
	if b.lib.NoNodes {
		p.Nodes, p.PPN = p.Ranks(), 1
	}
	return signatureAt(p)
}

// part returns the call of collective c that a composition (plan of the ch4 device) makes on a part of the
// communicator.
func (b build) part(call signature, c coll.Collective, where hierarchy) signature {
	out := call
	out.Collective, out.Hierarchy, out.NodeConsecutive = c, where, false
	if where == rootsKind {
		out.Ranks = call.Nodes
	} else {
		out.Ranks, out.Nodes = max(1, call.Ranks/call.Nodes), 1
	}
	if call.Collective == coll.Barrier {
		out.AvgBytes, out.Count = 1, 1 // what releases the ranks of a node
	}
	out.TotalBytes = out.AvgBytes * int64(out.Ranks)
	if b.partsAreFlat() {
		out.Nodes, out.Hierarchy = 0, flatKind
	}
	return out
}

func (b build) route(f files, call signature) (route, error) {
	var r route
	if len(f.device) > 0 {
		leaf, ok, err := reachDevice(f.device, call)
		if err != nil {
			return r, err
		}
		if ok {
			r.composition = leaf
		}
	}
	whole := r.composition == ""
	for _, e := range b.cat.Entries(call.Collective) {
		whole = whole || e.Function == r.composition && !e.Has(mpi.Hierarchical)
	}
	divided := !whole
	if whole {
		var err error
		if r.flat, err = reach(f.flat, call); err != nil {
			return r, err
		}
		for _, e := range b.cat.Entries(call.Collective) {
			divided = divided || e.Function == r.flat.Name && e.Has(mpi.Parent)
		}
	}
	if !divided {
		return r, nil
	}
	for _, s := range partsOf(call.Collective) {
		alg, err := reach(f.flat, b.part(call, s.collective, s.where))
		if err != nil {
			return r, fmt.Errorf("part: %w", err)
		}
		r.parts = append(r.parts, alg)
	}
	return r, nil
}
