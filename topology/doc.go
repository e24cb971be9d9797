// Package topology describes a machine as a tree of switches, nodes and parts of nodes.
//
// A vertex of a Tree has one Kind. Switches are above nodes; sockets, caches and cores are
// below nodes. A vertex has the time of a message between two of its children, and the
// confidence that these children belong together. Gaps describe unknown parts of a tree.
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
