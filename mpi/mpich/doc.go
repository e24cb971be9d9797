// Package mpich is MPICH: its algorithms and compositions, how it is made to use one
// of them, and the JSON files that MPICH 4.0 to 5.0 reads in place of its built-in
// trees.
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
// A file replaces a whole tree and MPICH checks nothing that it chooses by the
// file. Export therefore starts from the complete trees of the library the files
// are for, found in libmpich itself by package csel, guards every algorithm by what
// it requires of a call, and refuses what the library does not know. Files are for
// one library: names and parameters change from release to release.
//
// MPICH decides twice. The ch4 device comes first: by a tree of its own it hands a
// collective on or makes it from parts, one between the nodes and one within each: a
// composition, named alpha, beta or gamma. Then the tree of algorithms is asked, with
// the whole communicator or with those of the parts. Compositions are entries of the
// catalogue like the others; where a release lets the parts be chosen they are
// parameters, alpha(inter=binomial), and a part not named is the library's own choice.
//
// The files say both decisions, so that at every point
//
//   - the library's default is what the library does as shipped: its own
//     composition of its own algorithms;
//   - an algorithm runs on the whole communicator: the device hands it on;
//   - a composition has the algorithm between nodes that it was measured with.
//
// Parts share their algorithms, see Fit. A communicator with as many nodes as a
// tuned one, but with another number of ranks on each, has the algorithm
// between nodes of the tuned one wherever the library splits it.
//
// From 5.0 on conditions do not tell the communicators of parts from those of
// programs, and other devices than ch4 have no tree. There is one file then, the
// settings tell the device to leave tuned collectives alone, and the default is
// the library's tree of algorithms without compositions. The part within nodes of
// builds with algorithms of their own for shared memory is out of reach of files
// of algorithms: it is as shipped wherever a collective is split.
//
// The semantics were read in src/mpi/coll/src/csel.c of MPICH 4.0.2 to 5.0.1 and
// checked by running Debian's 4.0.2, see the tests.
package mpich
