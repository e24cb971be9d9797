// Package mpich writes selections as the JSON files that MPICH 4.0 to 5.0 reads in
// place of its built-in trees, reads such files back and replays them.
//
// A file replaces a whole tree and MPICH checks nothing that it chooses by the
// file. Export therefore starts from the complete trees of the library the files
// are for, found in libmpich itself by csel.ReadLibrary, guards every
// algorithm by what it requires of a call, and refuses what the library does not
// know. Files are for one library: names and parameters change from release to
// release.
//
//	lib, err := csel.ReadLibrary("/usr/lib/x86_64-linux-gnu/libmpich.so")
//	if err != nil {
//		return err
//	}
//	plan, err := mpich.Fit(rows, lib, cat, selection.Options{MaxLoss: 0.01})
//	if err != nil {
//		return err
//	}
//	file, err := mpich.Export([]mpich.Plan{plan}, lib, cat)
//	if err != nil {
//		return err
//	}
//	if err := mpich.Verify(file.Bytes(), file.DeviceBytes(), []mpich.Plan{plan}, rows, lib, cat); err != nil {
//		return err
//	}
//	err = file.Write(dir) // dir/mpich.json, dir/mpich.ch4.json and dir/mpich.env
//
// MPICH decides twice. The ch4 device comes first: by a tree of its own it hands a
// collective on or makes it from parts, one between the nodes and one within each.
// Then the tree of algorithms is asked, with the whole communicator or with those
// of the parts. The files say both, so that at every point
//
//   - the library's default is what the library does as shipped: its own
//     composition of its own algorithms;
//   - an algorithm runs on the whole communicator: the device hands it on;
//   - a composition has the algorithm between nodes that it was measured with.
//
// Parts share their algorithms, see Fit. A communicator with as many nodes as a
// tuned one, but with another number of processes on each, has the algorithm
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
