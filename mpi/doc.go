// Package mpi is the interface to MPI libraries. The packages below it implement it for
// each library, and package libraries lists them.
//
// A Library has a Catalogue for each known release: the algorithms of each collective,
// their parameters and requirements. A Measurable library can be forced to run an
// algorithm. A Build makes selection files: it fits a selection to predictions, exports it
// as files and settings, and replays the files as the library would evaluate them. Facts
// describe how a library is found, started and recognised on a machine.
//
//	lib, cat, err := libraries.Release("mpich", "4.0.2")
//	f, err := mpi.Force(lib, cat, candidate) // how a benchmark is made to run one algorithm
//
//	b, err := lib.Open(cat, "")
//	sel, err := b.Merge(rows, 0.01)
//	x, err := b.Export(sel, dir)
//	if err := b.Replay(x, sel, rows); err != nil {
//		return err
//	}
//	err = x.Write(dir)
//
// Setup is the environment that makes a library read its selection files, as a shell snippet and as an
// environment module. In a job both determine the layout.
//
// The package starts no programs; Tools runs the programs of an installation.
package mpi
