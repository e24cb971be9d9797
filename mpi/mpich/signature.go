package mpich

import (
	"math"

	"tutti/coll"
)

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
	switch p.Collective {
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
	switch c {
	case coll.Bcast, coll.Allreduce, coll.Reduce, coll.Alltoall:
		return "avg_msg_size"
	case coll.Barrier, coll.Scan, coll.Exscan:
		return ""
	}
	return "total_msg_size"
}

// Size implements mpi.Library.
func (library) Size(p coll.Point) int64 { return size(p) }

// size returns the message size that MPICH's rules compare. For bcast, allreduce and reduce, it is the
// number of bytes in the buffer. For alltoall, it is the number of bytes for one rank. For gather and
// scatter, it is the number of elements of all ranks. For barrier, scan and exscan, it is 0. For all other
// collectives, it is the number of bytes of all ranks.
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
