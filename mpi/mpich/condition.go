package mpich

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/mpi"
	"tutti/mpi/mpich/csel"
)

// condition is one key of a tree: name, one of = < <=, value.
type condition struct {
	name, op, value string
	limit           int64 // of < and <= with a number
}

func parseCondition(key string) (condition, error) {
	if key == "any" {
		return condition{name: key, op: "=", value: key}, nil
	}
	at := strings.IndexAny(key, "<=")
	if at < 0 {
		return condition{}, fmt.Errorf("condition %q: want name, one of = < <=, value", key)
	}
	c := condition{name: key[:at], op: key[at : at+1], value: key[at+1:]}
	if c.op == "<" && strings.HasPrefix(c.value, "=") {
		c.op, c.value = "<=", c.value[1:]
	}
	if c.op == "=" || key == "count<pow2" {
		return c, nil
	}
	n, err := strconv.ParseInt(c.value, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt32 {
		return condition{}, fmt.Errorf("condition %q: want a number of 0 to %d", key, math.MaxInt32)
	}
	c.limit = n
	return c, nil
}

// ranged reports whether MPICH demands another alternative after the condition.
func (c condition) ranged() bool {
	return c.op != "=" || c.name == "comm_size" && c.value != "any"
}

// ofComm reports whether the condition is about the communicator alone.
func (c condition) ofComm() bool {
	return strings.HasPrefix(c.name, "comm_") || c.name == "is_node_consecutive"
}

// known reports whether the library has the condition. From 4.2 on any and =any
// after every name are understood, and their texts are not in the library.
func (c condition) known(lib csel.Library) bool {
	text := c.name + c.op
	if c.op == "=" || c.value == "pow2" {
		text += c.value
	}
	if c.value == "any" && !slices.Contains(lib.Keys, "comm_size=any") {
		return true
	}
	return slices.Contains(lib.Keys, text)
}

// Hierarchy is what a communicator is to the nodes, as MPICH sees it.
type Hierarchy string

// The kinds of communicators. Parent has a node with two processes or more; its
// parts are NodeRoots and Node; Flat has one process on each node.
const (
	Parent    Hierarchy = "parent"
	NodeRoots Hierarchy = "node_roots"
	Node      Hierarchy = "node"
	Flat      Hierarchy = "flat"
)

// Call is what MPICH looks at when it selects.
type Call struct {
	Collective       coll.Collective
	Processes, Nodes int
	Hierarchy        Hierarchy
	NodeConsecutive  bool  // ranks consecutive on the nodes of a Parent
	AvgBytes         int64 // avg_msg_size
	TotalBytes       int64 // total_msg_size
	Count            int64
	Commutative      bool
	BuiltinOp        bool
	InPlace          bool // send buffer
	BlockRegular     bool // equal receive counts
	MultiThreaded    bool
}

// CallAt is the call of a benchmark at a point: separate buffers, equal counts, a
// predefined commutative operation, ranks consecutive on the nodes.
func CallAt(p coll.Point) Call {
	c := Call{
		Collective: p.Collective, Processes: p.Processes(), Nodes: p.Nodes, Hierarchy: Flat,
		Count: p.Count(), Commutative: true, BuiltinOp: true, BlockRegular: true,
	}
	if p.PPN > 1 {
		c.Hierarchy, c.NodeConsecutive = Parent, true
	}
	n := int64(c.Processes)
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

// sizeKey returns the measure that the rules of a collective compare, empty when
// they know none.
func sizeKey(c coll.Collective) string {
	switch c {
	case coll.Bcast, coll.Allreduce, coll.Reduce, coll.Alltoall:
		return "avg_msg_size"
	case coll.Barrier, coll.Scan, coll.Exscan:
		return ""
	}
	return "total_msg_size"
}

// Size is the measure of message size that MPICH's rules compare, the one to fit
// with: bytes of the buffer for bcast, allreduce and reduce, bytes to one process
// for alltoall, bytes of all processes for the rest, elements of all processes
// for gather and scatter, 0 for barrier, scan and exscan.
//
// Thresholds are C ints. Larger sizes cannot be told apart and measure as the
// largest int.
func Size(p coll.Point) int64 {
	size := int64(0)
	switch c := CallAt(p); sizeKey(p.Collective) {
	case "avg_msg_size":
		size = c.AvgBytes
	case "total_msg_size":
		size = c.TotalBytes
	}
	return min(size, math.MaxInt32)
}

// holds reports whether a condition holds for the call. resolved says that MPICH
// evaluates it when the communicator is made rather than at the call: there
// comm_size<N means what it says, at the call it means comm_size<=N.
func (c condition) holds(call Call, resolved bool) (bool, error) {
	if c.op == "=" && c.value == "any" {
		return true, nil
	}
	yes := func(b bool) (bool, error) {
		if c.op != "=" || c.value != "yes" && c.value != "no" {
			return false, fmt.Errorf("condition %s%s%s: want =yes or =no", c.name, c.op, c.value)
		}
		return b == (c.value == "yes"), nil
	}
	switch c.name {
	case "comm_type":
		return c.value == "intra", nil
	case "comm_hierarchy":
		return c.value == string(call.Hierarchy), nil
	case "is_node_consecutive":
		return yes(call.NodeConsecutive)
	case "is_commutative":
		return yes(call.Commutative)
	case "is_op_built_in":
		return yes(call.BuiltinOp)
	case "is_sendbuf_inplace":
		return yes(call.InPlace)
	case "is_block_regular":
		return yes(call.BlockRegular)
	case "is_multi_threaded":
		return yes(call.MultiThreaded)
	}
	return c.compares(call, resolved)
}

func (c condition) compares(call Call, resolved bool) (bool, error) {
	n := int64(call.Processes)
	measure := int64(0)
	switch {
	case c.name == "comm_size" && c.op == "=" && c.value == "pow2":
		return call.Processes == mpi.FloorPowerOfTwo(call.Processes), nil
	case c.name == "comm_size" && c.op == "=" && c.value == "node_comm_size":
		return call.Nodes == 1 && call.Hierarchy == Parent, nil
	case c.name == "count" && c.value == "pow2" && c.op == "<":
		return call.Count < int64(mpi.FloorPowerOfTwo(call.Processes)), nil
	case c.op == "=":
		return false, fmt.Errorf("condition %s=%s: unknown", c.name, c.value)
	case c.name == "comm_size" && c.op == "<" && !resolved:
		return n <= c.limit, nil
	case c.name == "comm_avg_ppn": // processes against limit times nodes
		return n < c.limit*int64(call.Nodes) || c.op == "<=" && n == c.limit*int64(call.Nodes), nil
	case c.name == "comm_size":
		measure = n
	case c.name == "avg_msg_size" && sizeKey(call.Collective) == "avg_msg_size":
		measure = call.AvgBytes
	case c.name == "total_msg_size" && sizeKey(call.Collective) != "":
		measure = call.TotalBytes
	case c.name == "count":
		measure = call.Count
	default:
		return false, fmt.Errorf("condition %s%s%s: not for %s", c.name, c.op, c.value, call.Collective)
	}
	return measure < c.limit || c.op == "<=" && measure == c.limit, nil
}
