// Package topology describes a machine as a tree: switches, nodes, and what is inside
// the nodes.
//
// A Tree has vertices of one Kind each. Switches are above nodes; sockets, caches, cores
// and so on are below them. A vertex has the time of a message between two of its
// children and the confidence of the division into these children. What the source of a
// tree leaves open is in its Gaps, in words.
//
//	t, err := topology.Read(file, "topology.json")
//	if err != nil {
//		return err
//	}
//	for _, l := range t.Levels() {
//		fmt.Println(l) // 4 switches of 8 nodes, 2.18 µs
//	}
//
// Merge joins the trees of several jobs, each of its own nodes. Compare compares a declared
// tree with a measured one. Package topology/files reads and writes the files that describe
// machines. Package topology/discover finds levels, slow nodes and slow links from measured
// pairs.
package topology
