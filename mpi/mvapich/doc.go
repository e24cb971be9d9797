// Package mvapich writes selections as the tuning variables of MVAPICH2 2.3, reads
// them back and replays them.
//
// A variable is for one collective and has the number of an algorithm for each
// range of message size:
//
//	MV2_INTER_BCAST_TUNING='1:0-1024,8:1025-+'
//
// It knows neither processes nor nodes, and it replaces the library's own table
// whole: no range can be left to the library. Fit therefore plans for each layout
// on its own and sets a variable only where, at every tuned size, some algorithm
// is predicted to be no slower than MaxLoss beyond the best, the library's own
// choice included. Jobs of other layouts keep the library's tables.
//
//	plan, err := mvapich.Fit(rows, 0.01)
//	if err != nil {
//		return err
//	}
//	setup, err := mvapich.Export(plan, cat)
//	if err != nil {
//		return err
//	}
//	if err := mvapich.Verify(setup, plan, rows, cat); err != nil {
//		return err
//	}
//	err = setup.Write(filepath.Join(dir, mvapich.FileName))
//
// What the variables do was read in src/mpi/coll of MVAPICH2 2.3. It was not tried
// on a real MVAPICH2, and the snippet says so. MVAPICH 3 and later are MPICH to
// their users, with MPICH's variables.
package mvapich
