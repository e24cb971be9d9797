package mpich

import (
	"fmt"
	"math"
	"slices"

	"tutti/coll"
	"tutti/mpi"
)

// files holds the two selection trees. MPICH evaluates the device tree first, which selects a composition. Without a
// device tree there are no compositions.
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

// splits reports whether MPICH can implement a collective as several parts, in compositions or in its smp algorithms.
// Source: ch4_coll_impl.h of 4.0.2.
func splits(c coll.Collective) bool { return len(partsOf(c)) > 0 }

// step is one of the smaller collectives that make up a collective. It is called on a part of the communicator.
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

// mixes reports whether selection files can run a collective in both ways: at some points as a composition of parts,
// at others as one algorithm on the whole communicator.
func (b build) mixes(c coll.Collective) bool {
	_, ok := handsOn(b.cat, c)
	return ok && len(b.lib.Device) > 0
}

// partsAreFlat reports whether MPICH treats communicators between nodes or within a node as if it knew no nodes, as
// since 5.0. Conditions comm_avg_ppn<=N are then false for them. The conditions comm_hierarchy=node_roots and
// comm_hierarchy=node are true for every communicator that is not a parent.
func (b build) partsAreFlat() bool { return mpi.AtLeast(b.cat.Version, 5) }

// callAt returns the properties of the benchmark's call at a point. If the build treats each rank as a node of its
// own, the call has as many nodes as ranks.
func (b build) callAt(p coll.Point) signature {
	if b.lib.NoNodes {
		p.Nodes, p.PPN = p.Ranks(), 1
	}
	return signatureAt(p)
}

// part returns the properties of the call of collective c that a composition makes on a part of the communicator.
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
	var err error
	if r.composition, err = reachDevice(f.device, call); err != nil {
		return r, err
	}
	e, known := b.entry(call.Collective, r.composition)
	divided := r.composition != "" && (!known || e.Has(mpi.Hierarchical))
	if !divided {
		if r.flat, err = reach(f.flat, call); err != nil {
			return r, err
		}
		flat, _ := b.entry(call.Collective, r.flat.Name)
		divided = flat.Has(mpi.Parent)
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

// hierarchy is the relation of a communicator to the nodes, as MPICH sees it.
type hierarchy string

// Kinds of communicators. In a parentKind communicator, at least one node has two or more ranks. Collectives
// split it into communicators between nodes (rootsKind) and within nodes (nodeKind). A flatKind communicator
// has one rank on each node.
const (
	parentKind hierarchy = "parent"
	rootsKind  hierarchy = "node_roots"
	nodeKind   hierarchy = "node"
	flatKind   hierarchy = "flat"
)

// signature holds the properties of a call that MPICH's conditions can test.
type signature struct {
	Collective      coll.Collective
	Ranks, Nodes    int
	Hierarchy       hierarchy
	NodeConsecutive bool  // ranks consecutive on the nodes of a parentKind
	AvgBytes        int64 // avg_msg_size
	TotalBytes      int64 // total_msg_size
	Count           int64
	Commutative     bool
	BuiltinOp       bool
	InPlace         bool // send buffer
	BlockRegular    bool // equal receive counts
	MultiThreaded   bool
}

// signatureAt returns the benchmark's call at a point: separate buffers, equal counts, a predefined
// commutative operation, and ranks that are consecutive on the nodes.
func signatureAt(p coll.Point) signature {
	c := signature{
		Collective: p.Collective, Ranks: p.Ranks(), Nodes: p.Nodes, Hierarchy: flatKind,
		Count: p.Count(), Commutative: true, BuiltinOp: true, BlockRegular: true,
	}
	if p.PPN > 1 {
		c.Hierarchy, c.NodeConsecutive = parentKind, true
	}
	n := int64(c.Ranks)
	c.AvgBytes = p.Count() * p.Collective.ElementBytes()
	c.TotalBytes = c.AvgBytes * n
	switch p.Collective.Blocking() {
	case coll.Gather, coll.Scatter:
		c.TotalBytes = p.Count() * n // elements: MPICH forgets the size of the type
	case coll.ReduceScatter:
		c.TotalBytes = c.AvgBytes // MsgBytes is the whole send buffer
	case coll.ReduceScatterBlock:
		c.TotalBytes, c.Count = c.AvgBytes, p.Count()/n
	case coll.Allgatherv:
		c.Count = p.Count() * n
	}
	return c
}

// sizeKey returns the key by which the rules of a collective compare the message size, "" if they do not.
func sizeKey(c coll.Collective) string {
	for _, key := range []string{"avg_msg_size", "total_msg_size"} {
		if slices.Contains(conditionOf[key], string(c.Blocking())) {
			return key
		}
	}
	return ""
}

func (library) Size(p coll.Point) int64 { return size(p) }

// size returns the message size that MPICH compares with the limits in its rules. For bcast, allreduce and
// reduce, it is the number of bytes in the buffer. For alltoall, it is the number of bytes for one rank. For
// gather and scatter, it is the number of elements of all ranks. For barrier, scan and exscan, it is 0. For all
// other collectives, it is the number of bytes of all ranks.
//
// Thresholds are C ints. A larger size counts as the largest C int.
func size(p coll.Point) int64 {
	bytes := int64(0)
	switch c := signatureAt(p); sizeKey(p.Collective) {
	case "avg_msg_size":
		bytes = c.AvgBytes
	case "total_msg_size":
		bytes = c.TotalBytes
	}
	return min(bytes, math.MaxInt32)
}
