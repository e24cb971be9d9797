// Package mpich is the port to MPICH. It has the algorithms and compositions of each release, forces
// one of them, and writes the JSON files that MPICH 4.0 to 5.0 reads instead of its built-in trees.
//
//	cat := mpich.Library.Releases()[0] // 4.0.2
//	b, err := mpich.Library.Open(cat, "/usr/lib/x86_64-linux-gnu/libmpich.so")
//	if err != nil {
//		return err
//	}
//	sel, err := b.Fit(rows, mpi.FitOptions{MaxLoss: 0.01})
//	if err != nil {
//		return err
//	}
//	x, err := b.Export(sel, dir) // dir/mpich.json, dir/mpich.ch4.json and dir/mpich.env
//
// A file replaces a whole tree, and MPICH does not check that the algorithm of a leaf can run. Export
// therefore starts from the complete trees of the library, which it finds in libmpich. It puts the
// requirements of each algorithm before its leaf, and returns an error for names that the library
// does not know. Files are for one library: names and parameters differ between releases.
//
// MPICH selects in two steps. First the tree of the ch4 device selects a composition, named alpha, beta
// or gamma. A composition makes a collective from parts, one between the nodes and one within each
// node. The device can also leave the collective whole. Then the tree of algorithms selects for the
// whole communicator, or for the communicators of the parts. The catalogue lists compositions
// like algorithms. Some releases let a file select the algorithms of the parts: these are then parameters,
// as in alpha(inter=binomial). The library selects for a part that is not named.
//
// The files contain both steps. At every point
//
//   - the default is what the library does without files: its own composition of its own algorithms;
//   - an algorithm runs on the whole communicator;
//   - a composition has the algorithm between nodes with which it was measured.
//
// All collectives share the algorithms of parts, see Fit. A communicator can have the nodes of a tuned
// one, and other numbers of ranks on them. It then gets the tuned algorithm between nodes wherever the
// library uses a composition.
//
// In MPICH 5.0, communicators of parts have no hierarchy: no limit of comm_avg_ppn holds for them. Tuned
// rules have such a limit, so parts keep the library's own choice. Builds of 5.0 without shared memory take
// each rank for a node. Their files do not compare processes per node, and single layouts may have files of
// their own.
//
// Other devices than ch4 have no tree of compositions. They get one file, the settings turn the
// compositions of tuned collectives off, and the default is the tree of algorithms without compositions.
// Some builds have algorithms of their own for shared memory within a node. No file can select those: they
// run wherever the library uses a composition.
//
// The semantics are those of src/mpi/coll/src/csel.c in MPICH 4.0.2 to 5.0.1. Tests check them with
// Debian's 4.0.2.
package mpich
