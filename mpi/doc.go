// Package mpi is the port to MPI libraries: what tutti asks of one, whichever it is.
// The libraries are the packages below it, and package libraries lists them.
//
// A Library has a Catalogue for each release that is known: the algorithms of each
// collective, the parameters they take and what they require of a point. A space
// built from it never holds a point that an algorithm cannot run. One whose
// algorithms can be forced is Measurable. A Build is what selection files are made
// for: a selection is fitted to predictions, exported as files and settings, and replayed
// as the library would follow it before it is written. Facts say how a library is
// found, started and recognised on a machine.
//
//	lib, cat, err := libraries.Release("mpich", "4.0.2")
//	f, err := mpi.Force(lib, cat, candidate) // how a benchmark is made to run one algorithm
//
//	b, err := lib.Open(cat, "")
//	sel, err := b.Fit(rows, mpi.FitOptions{MaxLoss: 0.01})
//	x, err := b.Export(sel, dir)
//	if err := b.Replay(x, sel, rows); err != nil {
//		return err
//	}
//	err = x.Write(dir)
//
// All of this is knowledge: nothing here starts a program. What an installation has
// to say of itself comes through Tools.
package mpi
