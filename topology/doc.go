// Package topology says what a machine looks like: the tree of its switches, nodes
// and what is inside them, where it is known from a file or was measured.
//
// A Tree has vertices of one Kind each. Switches lie above nodes; sockets, caches,
// cores and the like below them. A vertex says what a message between two of its
// children takes and how sure the division into these children is. What a tree
// cannot say stands in its Gaps, in words.
//
//	t, err := topology.Read(file, "topology.json")
//	if err != nil {
//		return err
//	}
//	for _, l := range t.Levels() {
//		fmt.Println(l) // 4 switches of 8 nodes, 2.18 µs
//	}
//
// Trees come from Slurm's files (topology/slurm), from hwloc (topology/hwloc) and from
// measured distances (topology/cluster); topology/files reads whichever it is. Merge joins
// what several jobs measured, each of its own nodes; Compare holds what a file says
// against what was measured. What a pair of ranks takes is the subject of topology/plogp,
// which places are slow that of topology/suspect, and in which order messages suit a tree
// that of topology/schedule.
package topology
