// Package mvapich is MVAPICH2 2.3: its algorithms, and the tuning variables that
// choose among them.
//
//	cat := mvapich.Library.Releases()[0] // 2.3
//	b, err := mvapich.Library.Open(cat, "")
//	if err != nil {
//		return err
//	}
//	sel, err := b.Fit(rows, mpi.FitOptions{MaxLoss: 0.01})
//	if err != nil {
//		return err
//	}
//	x, err := b.Export(sel, dir) // dir/mvapich2.env
//
// A variable is for one collective and has the number of an algorithm for each
// range of message size:
//
//	MV2_INTER_BCAST_TUNING='1:0-1024,8:1025-+'
//
// It knows neither ranks nor nodes, and it replaces the library's own table
// whole: no range can be left to the library. Fit therefore selects for each layout
// on its own and sets a variable only where, at every tuned size, some algorithm
// is predicted to be no slower than MaxLoss beyond the best, the library's own
// choice included. Jobs of other layouts keep the library's tables.
//
// What the variables do was read in src/mpi/coll of MVAPICH2 2.3. It was not tried
// on a real MVAPICH2, and the snippet says so. MVAPICH 3 and later are MPICH to
// their users, with MPICH's variables.
package mvapich
