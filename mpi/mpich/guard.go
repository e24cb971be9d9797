package mpich

import (
	"fmt"
	"slices"

	"tutti/coll"
	"tutti/mpi"
)

// fallbacks returns algorithms that are correct for every call. Where the selected algorithm cannot run, the export
// uses the first of them that the release has.
func fallbacks(c coll.Collective) []string {
	if c.Nonblocking() {
		return []string{"sched_" + fallbacks(c.Blocking())[0]}
	}
	switch c {
	case coll.Bcast, coll.Reduce:
		return []string{"binomial"}
	case coll.Allgather, coll.Allgatherv:
		return []string{"brucks"}
	case coll.Barrier:
		// With k=2, k_dissemination is the classic dissemination barrier, which is MPICH's own default.
		return []string{"dissemination", "k_dissemination(k=2)"}
	}
	return []string{"recursive_doubling"}
}

// guards maps requirements of algorithms to conditions in selection trees, in the order in which MPICH
// evaluates them. Conditions on the communicator come first.
var guards = []struct {
	requirement mpi.Requirement
	good, other string // conditions under which it holds and does not
}{
	{mpi.NodeConsecutive, "is_node_consecutive=yes", "is_node_consecutive=no"},
	{mpi.Parent, "comm_hierarchy=parent", "comm_hierarchy=any"},
	{mpi.Hierarchical, "comm_hierarchy=parent", "comm_hierarchy=any"}, // one node is right, too
	{mpi.OneNode, "comm_size=node_comm_size", "comm_size=any"},
	{mpi.PowerOfTwo, "comm_size=pow2", "comm_size=any"},
	{mpi.Commutative, "is_commutative=yes", "is_commutative=no"},
	{mpi.BuiltinOp, "is_op_built_in=yes", "is_op_built_in=no"},
	{mpi.CountPowerOfTwo, "count=any", "count<pow2"},
}

// guarded returns a subtree that selects the algorithm where the algorithm's requirements hold. Elsewhere
// it selects the fallback of the collective.
func (x *exporter) guarded(alg coll.Algorithm) (treeObject, error) {
	entry, out, err := x.leaf(alg)
	if err != nil {
		return nil, err
	}
	out, unguarded, err := guard(x.collective, entry, out, x.fallback)
	// Calls with MPI_IN_PLACE do not reach this subtree. The library's own branch of the tree serves them.
	unguarded = slices.DeleteFunc(unguarded, func(r mpi.Requirement) bool { return r == mpi.NotInPlace })
	if err == nil && len(unguarded) > 0 {
		err = fmt.Errorf("mpich %s %v: requires %v, for which MPICH has no condition", x.collective, alg, unguarded)
	}
	return out, err
}

// guard returns a subtree that selects the leaf of an algorithm where the algorithm's requirements hold.
// Elsewhere the subtree is what `safe` returns. It also returns the requirements for which MPICH has no
// condition.
func guard(c coll.Collective, entry mpi.Entry, leaf treeObject, safe func() (treeObject, error)) (treeObject, []mpi.Requirement, error) {
	need := slices.Clone(entry.Requires)
	if slices.Contains(need, mpi.NodeConsecutive) { // implies a parent
		need = slices.DeleteFunc(need, func(r mpi.Requirement) bool {
			return r == mpi.Parent || r == mpi.Hierarchical
		})
	}
	for _, g := range slices.Backward(guards) {
		if !slices.Contains(need, g.requirement) {
			continue
		}
		need = slices.DeleteFunc(need, func(r mpi.Requirement) bool { return r == g.requirement })
		if g.requirement == mpi.Commutative && c == coll.Scan {
			continue
		}
		other, err := safe()
		if err != nil {
			return nil, nil, err
		}
		// MPICH takes the first alternative that is true. The condition that can be false must therefore
		// come before the one that is always true.
		if g.requirement == mpi.CountPowerOfTwo {
			leaf = treeObject{{g.other, other}, {g.good, leaf}}
		} else {
			leaf = treeObject{{g.good, leaf}, {g.other, other}}
		}
	}
	return leaf, need, nil
}

func (x *exporter) fallback() (treeObject, error) {
	if flat, ok := handsOn(x.cat, x.collective); x.device && ok {
		return treeObject{{compositionKey + flat.Function, nil}}, nil
	}
	var last error
	for _, name := range fallbacks(x.collective) {
		alg, err := coll.ParseAlgorithm(name)
		if err != nil {
			return nil, err
		}
		_, out, err := x.leaf(alg)
		if err == nil {
			return out, nil
		}
		last = err
	}
	return nil, fmt.Errorf("fallback: %w", last)
}

func (x *exporter) leaf(alg coll.Algorithm) (mpi.Entry, treeObject, error) {
	entry, err := x.cat.Lookup(x.collective, alg)
	if err != nil {
		return mpi.Entry{}, nil, err
	}
	if x.device {
		return entry, treeObject{{compositionKey + entry.Function, nil}}, nil
	}
	alg.Name = entry.Function
	return entry, leaf(alg), nil
}
