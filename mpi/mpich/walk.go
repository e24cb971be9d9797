package mpich

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/internal/lazyregexp"
)

// reach returns the algorithm that a call reaches in the selection tree. Its name is the function of the
// leaf, such as MPIR_Bcast_intra_binomial. MPICH enters the first alternative whose condition holds, and
// never returns to a later one.
func reach(o treeObject, call signature) (coll.Algorithm, error) {
	m, _, ok, err := walk(o, call)
	if err == nil && !ok {
		err = fmt.Errorf("%s on %d ranks: no alternative holds, MPICH would abort", call.Collective, call.Ranks)
	}
	if err != nil {
		return coll.Algorithm{}, err
	}
	return leafAlgorithm(m)
}

// reachDevice returns the composition that MPICH uses for a call. It returns "" if the device tree has none for it.
func reachDevice(o treeObject, call signature) (string, error) {
	m, _, ok, err := walk(o, call)
	if err != nil || !ok {
		return "", err
	}
	name, ok := strings.CutPrefix(m.Key, compositionKey)
	if !ok {
		return "", fmt.Errorf("leaf %s: want %s in the device's tree", m.Key, compositionKey)
	}
	return name, nil
}

// walk returns the leaf that a call reaches in a selection tree, and the keys on the way. It returns false if no
// alternative applies to the call. When MPICH creates a communicator, it evaluates the conditions that precede the
// first one about the call; see holds.
func walk(o treeObject, call signature) (leaf treeMember, keys []string, ok bool, err error) {
	resolved := true
	for range maxTreeDepth + 1 {
		if len(o) == 1 && isLeaf(o[0].Key) {
			return o[0], keys, true, nil
		}
		next, err := enter(o, call, &resolved)
		if err != nil || next < 0 {
			return treeMember{}, keys, false, err
		}
		keys = append(keys, o[next].Key)
		o = o[next].Value
	}
	return treeMember{}, keys, false, fmt.Errorf("%s: tree deeper than %d", call.Collective, maxTreeDepth)
}

// enter returns the index of the first alternative whose condition is true for the call, or -1.
func enter(o treeObject, call signature, resolved *bool) (int, error) {
	for i, m := range o {
		c, err := parseCondition(m.Key)
		if err != nil {
			return -1, err
		}
		if c.name == "collective" {
			if c.value == string(call.Collective) {
				return i, nil
			}
			continue
		}
		*resolved = *resolved && c.ofComm()
		holds, err := c.holds(call, *resolved)
		if err != nil {
			return -1, err
		}
		if holds {
			return i, nil
		}
	}
	return -1, nil
}

// leafAlgorithm returns the algorithm of a leaf algorithm=NAME. The keys below the leaf are its parameters.
func leafAlgorithm(m treeMember) (coll.Algorithm, error) {
	var params []coll.Param
	for _, p := range m.Value {
		name, value, _ := strings.Cut(p.Key, "=")
		params = append(params, coll.Param{Name: name, Value: value})
	}
	alg, err := coll.NewAlgorithm(strings.TrimPrefix(m.Key, leafKey), params...)
	if err != nil {
		return coll.Algorithm{}, fmt.Errorf("leaf %s: %w", m.Key, err)
	}
	return alg, nil
}

// leaf returns an object with one leaf for the algorithm. It is the inverse of leafAlgorithm.
func leaf(alg coll.Algorithm) treeObject {
	var params treeObject
	for _, p := range alg.Params() {
		params = append(params, treeMember{Key: p.Name + "=" + p.Value})
	}
	return treeObject{{leafKey + alg.Name, params}}
}

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
	c.limit = int64(atoi(c.value))
	return c, nil
}

var leadingNumber = lazyregexp.New(`^[+-]?[0-9]*`)

// atoi returns the number that C's atoi reads with glibc: that of the leading digits, cut to 32 bits.
func atoi(text string) int32 {
	n, _ := strconv.ParseInt(leadingNumber.FindString(text), 10, 64) // beyond 64 bits, the nearest number
	return int32(n)
}

// misread says how MPICH reads the condition if that differs from the text. Otherwise it returns "".
func (c condition) misread() string {
	if c.op == "=" || c.value == "pow2" || c.value == strconv.FormatInt(c.limit, 10) && c.limit >= 0 {
		return ""
	}
	return fmt.Sprintf("MPICH reads the number %d: want digits alone, a number of 0 to %d", c.limit, math.MaxInt32)
}

// conditionOf lists the collectives of conditions that exist for some only. Nonblocking ones have those of the blocking
// ones. For others, MPICH 4.0 to 5.0 aborts when it evaluates the condition (src/mpi/coll/src/csel.c).
var conditionOf = map[string][]string{
	"avg_msg_size": {"allreduce", "alltoall", "bcast", "reduce"},
	"total_msg_size": {
		"allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "bcast", "gather", "reduce", "reduce_scatter",
		"reduce_scatter_block", "scatter",
	},
	"count":              {"allgather", "allgatherv", "allreduce", "bcast", "reduce", "reduce_scatter", "reduce_scatter_block"},
	"is_block_regular":   {"reduce_scatter"},
	"is_commutative":     {"allreduce", "reduce", "reduce_scatter", "reduce_scatter_block"},
	"is_op_built_in":     {"allreduce", "reduce"},
	"is_sendbuf_inplace": {"alltoall", "alltoallv", "alltoallw"},
}

// ranged reports whether MPICH expects another condition after this one, so that it must not be the last.
func (c condition) ranged() bool {
	return c.op != "=" || c.name == "comm_size" && c.value != "any"
}

// ofComm reports whether the condition depends only on the communicator, and not on the call.
func (c condition) ofComm() bool {
	return strings.HasPrefix(c.name, "comm_") || c.name == "is_node_consecutive"
}

// known reports whether the library accepts the condition in a selection file. Since 4.2 the library accepts
// the key "any", and "=any" after every name, although its own file does not contain these texts.
func (c condition) known(lib libraryTree) bool {
	if lib.Keys == nil {
		return true
	}
	text := c.name + c.op
	if c.op == "=" || c.value == "pow2" {
		text += c.value
	}
	if c.value == "any" && !slices.Contains(lib.Keys, "comm_size=any") {
		return true
	}
	return slices.Contains(lib.Keys, text)
}

// holds reports whether the condition is true for the call. MPICH evaluates some conditions when it creates the
// communicator: then `resolved` is true, and comm_size<N means less than N. It evaluates the other conditions
// at the call: then `resolved` is false, and comm_size<N means at most N.
func (c condition) holds(call signature, resolved bool) (bool, error) {
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

// compares evaluates a condition that limits a number of the call, such as the message size.
func (c condition) compares(call signature, resolved bool) (bool, error) {
	if c.op == "=" || c.value == "pow2" {
		return c.named(call)
	}
	n, limit, err := c.measure(call)
	if err != nil {
		return false, err
	}
	orEqual := c.op == "<=" || c.name == "comm_size" && !resolved
	return n < limit || orEqual && n == limit, nil
}

func (c condition) named(call signature) (bool, error) {
	switch c.name + c.op + c.value {
	case "comm_size=pow2":
		return call.Ranks == coll.FloorPowerOfTwo(call.Ranks), nil
	case "comm_size=node_comm_size":
		return call.Nodes == 1 && call.Hierarchy == parentKind, nil
	case "count<pow2":
		return call.Count < int64(coll.FloorPowerOfTwo(call.Ranks)), nil
	}
	return false, fmt.Errorf("condition %s%s%s: unknown", c.name, c.op, c.value)
}

// measure returns the two numbers that the condition compares, such as the message size and the limit.
func (c condition) measure(call signature) (n, limit int64, err error) {
	switch {
	case c.name == "comm_size":
		return int64(call.Ranks), c.limit, nil
	case c.name == "comm_avg_ppn": // ranks against limit times nodes
		return int64(call.Ranks), c.limit * int64(call.Nodes), nil
	case c.name == "avg_msg_size" && sizeKey(call.Collective) == "avg_msg_size":
		return call.AvgBytes, c.limit, nil
	case c.name == "total_msg_size" && sizeKey(call.Collective) != "":
		return call.TotalBytes, c.limit, nil
	case c.name == "count":
		return call.Count, c.limit, nil
	}
	return 0, 0, fmt.Errorf("condition %s%s%s: not for %s", c.name, c.op, c.value, call.Collective)
}
