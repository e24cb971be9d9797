// Package mpich writes selections as the JSON file that MPICH 4.0 to 5.0 reads in
// place of its built-in tree of point-to-point algorithms, reads such files back
// and replays them.
//
// A file replaces the whole tree and MPICH checks nothing that it chooses by the
// file. Export therefore starts from the complete tree of the library the file
// is for, found in libmpich itself by mpichtree.ReadLibrary, guards every algorithm by what
// it requires of a call, and refuses what the library does not know. Files are
// for one library: names and parameters change from release to release.
//
//	lib, err := mpichtree.ReadLibrary("/usr/lib/x86_64-linux-gnu/libmpich.so")
//	if err != nil {
//		return err
//	}
//	file, err := mpich.Export(trees, lib, cat)
//	if err != nil {
//		return err
//	}
//	if err := mpich.Verify(file.Bytes(), trees, rows, lib, cat); err != nil {
//		return err
//	}
//	err = file.Write(dir) // dir/mpich.json and dir/mpich.env
//
// The file is the last of MPICH's decisions. Before it, the ch4 device may split
// a collective into one part between nodes and one within nodes, each of which
// then asks the file with its own communicator. File.Env turns that off for the
// tuned collectives, so that the file sees the communicators of the program. A
// leaf that leaves the decision to the library is the library's tree without that
// split: measure the default under the same settings.
//
// The semantics were read in src/mpi/coll/src/csel.c of MPICH 4.0.2 to 5.0.1 and
// checked by running Debian's 4.0.2, see the tests.
package mpich
