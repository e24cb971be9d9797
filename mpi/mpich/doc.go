// Package mpich is the port to MPICH. It has the algorithms and compositions of each release, forces
// one of them, and writes the JSON files that MPICH 4.0 to 5.0 reads instead of its built-in selection trees.
//
// A composition is a plan of MPICH's ch4 device, named alpha, beta or gamma. It makes a collective from parts,
// one between the nodes and one within each node, or runs one algorithm on the whole communicator. The device
// tree is the JSON tree by which the ch4 device selects a composition.
//
//	cat := mpich.Library.Releases()[0] // 4.0.2
//	b, err := mpich.Library.Open(cat, "/usr/lib/x86_64-linux-gnu/libmpich.so")
//	if err != nil {
//		return err
//	}
//	sel, err := b.Merge(rows, 0.01)
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
// MPICH selects in two steps. First the device tree selects a composition. Then the tree of algorithms selects
// an algorithm for the whole communicator, or one for the communicator of each part. The catalogue lists
// compositions like algorithms. Some releases let a file select the algorithms of the parts. These algorithms
// are then parameters of the composition, as in alpha(inter=binomial). The library selects the algorithm of a
// part that is not named.
//
// The files contain both steps. At every point
//
//   - the default is what the library does without files: its own composition of its own algorithms;
//   - an algorithm runs on the whole communicator;
//   - a composition has the algorithm between nodes with which it was measured.
//
// All collectives share the algorithms of parts, see Merge. A program's communicator can have as many nodes as a
// tuned one, but other numbers of ranks on them. The tuned algorithm between nodes then also runs there,
// wherever the library uses a composition.
//
// In MPICH 5.0, communicators of parts have no hierarchy: no limit of comm_avg_ppn holds for them. Tuned
// rules have such a limit, so parts keep the library's own choice. Builds of 5.0 without shared memory take
// each rank for a node. Their files do not compare processes per node, and single layouts may have files of
// their own.
//
// Devices other than ch4 have no device tree. They get one file, for the tree of algorithms, and the settings
// turn compositions off for tuned collectives. The default is then the tree of algorithms without compositions.
// Some builds have algorithms of their own for shared memory within a node. No file can select such an
// algorithm. It runs wherever the library uses a composition.
//
// Nonblocking collectives have algorithms in the tree, and no compositions. Schedules run their algorithms, so no error
// stack names them.
//
// The semantics are those of src/mpi/coll/src/csel.c in MPICH 4.0.2 to 5.0.1. Tests check them with
// Debian's 4.0.2.
package mpich
