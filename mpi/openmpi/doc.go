// Package openmpi describes Open MPI: the algorithms of its component coll/tuned, how one of them is forced, and
// the dynamic rules that it reads, in the classic format of 4.x and 5.x and in the JSON of 6.0.
//
//	cat := openmpi.Library.Releases()[0] // 4.1.4
//	b, err := openmpi.Library.Open(cat, "")
//	if err != nil {
//		return err
//	}
//	sel, err := mpi.Merge(b, rows, mpi.MergeOptions{MaxLoss: 0.01, OpSafe: true})
//	if err != nil {
//		return err
//	}
//	x, err := b.Export(sel, dir) // dir/openmpi.rules, dir/openmpi.env, dir/layouts/2x4.rules ...
//
// Rules depend on the collective, the size of a communicator and the message size. They do not depend on nodes,
// operations or buffers in place. Layouts with the same number of ranks therefore share rules. A layout that
// would lose time with the shared rules has a file of its own, which a job chooses at its start. OpSafe leaves
// out algorithms that are wrong for operations that do not commute.
//
// From 6.0 on a rule can require one rank on each node, or a single node. Layouts of these kinds need no file of
// their own: their blocks stand before the blocks for all layouts.
//
// From 5.0 on the component coll/han serves jobs with several ranks on several nodes. A file of its own makes it
// pass calls to coll/tuned where a rule selects an algorithm; see han.go. Two algorithms of coll/han are
// candidates, too; see han_variants.go.
//
// Each rank computes the message size from its own arguments, for some collectives also from
// arguments that the standard ignores. Rules of these collectives do not depend on the size, and
// the library decides for messages of size 0.
//
// Open MPI ignores an invalid file silently and decides as if there were none. Replay finds such faults.
//
// Sources: ompi/mca/coll/tuned of Open MPI 4.1.4, 5.0.9 and the branch for 6.0. Tests run Debian's 4.1.4. The
// settings of a release say if no library of it has loaded files.
package openmpi
