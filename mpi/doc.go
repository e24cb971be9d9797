// Package mpi is the port to MPI libraries: what tutti asks of one, whichever it is.
// The libraries are the packages below it, and package libraries lists them.
//
// A Library has a Catalogue for each release that is known: the algorithms of each
// collective, the parameters they take and what they require of a point. A space
// built from it never holds a point that an algorithm cannot run. Force says how a
// library is made to run one candidate; it is knowledge, and starts nothing.
//
//	lib, cat, err := libraries.Release("mpich", "4.0.2")
//	if err != nil {
//		return err
//	}
//	if err := cat.Check(candidate); err != nil {
//		return err // the release cannot run it
//	}
//	f, err := mpi.Force(lib, cat, candidate)
//	// one launch for this candidate alone: set f.Env
//	// one launch for many: set f.Base, then write f.Switches before the calls
package mpi
