// Package forcing says how a library is made to use one algorithm: by settings at
// the start of a program, or by MPI_T control variables while it runs. It is
// knowledge about libraries; it starts nothing.
//
//	f, err := forcing.Of(cat, candidate)
//	// one launch for this candidate alone: set f.Env
//	// one launch for many: set f.Base, then write f.Switches before the calls
package forcing
