// Package openmpi is Open MPI: what its coll/tuned component can do, how it is made
// to use one algorithm, and the dynamic rules that it reads, in the classic format of
// 4.x and 5.x and in the JSON of 6.0.
//
//	cat := openmpi.Library.Releases()[0] // 4.1.4
//	b, err := openmpi.Library.Open(cat, "")
//	if err != nil {
//		return err
//	}
//	sel, err := b.Fit(rows, mpi.FitOptions{MaxLoss: 0.01, OpSafe: true})
//	if err != nil {
//		return err
//	}
//	x, err := b.Export(sel, dir) // dir/openmpi.rules, dir/openmpi.env, dir/layouts/2x4.rules ...
//
// Rules know a collective, the size of a communicator and a message size. They do
// not know nodes, operations or buffers in place. A selection therefore merges layouts
// with the same number of ranks into the choice with the least worst loss and
// has a file of its own for each layout that would lose by it, to be chosen when a
// job starts; OpSafe leaves out algorithms that compute nonsense for operations that
// do not commute.
//
// From 6.0 on a rule can ask for communicators with one rank on each node or
// within one node. Such layouts need no file of their own then: their blocks stand
// before those for everybody.
//
// From 5.0 on the component han serves jobs with several ranks on several nodes. A file of its own makes it
// pass calls on to coll/tuned where a rule selects an algorithm; see han.go. Two algorithms of han are candidates, too;
// see han_variants.go.
//
// Each rank computes the message size from its own arguments, for some collectives also from
// arguments that the standard ignores. Rules of these collectives do not depend on the size, and
// the library decides for messages of size 0.
//
// Open MPI ignores a broken file without a word, and decides as if there were
// none. Replay finds what it would stumble over.
//
// The semantics were read in ompi/mca/coll/tuned of Open MPI 4.1.4 and 5.0.9 and of
// the branch for 6.0 and checked by running Debian's 4.1.4, see the tests. The settings
// of a release say if no library of it has loaded files.
package openmpi
