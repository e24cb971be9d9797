// Package settings has the MPI libraries that environment variables tune: Intel MPI,
// MVAPICH2, MVAPICH, Cray MPICH, and HCOLL and UCC below Open MPI. They are described by tables
// alone: libraries.csv, variables.csv and algorithms.csv. A further library with one of the
// four syntaxes below needs rows there and no code.
//
//	intel := settings.Libraries()[0]
//	b, err := intel.Open(intel.Releases()[0], "") // release 2019
//	if err != nil {
//		return err
//	}
//	sel, err := b.Merge(rows, 0.01)
//	if err != nil {
//		return err
//	}
//	x, err := b.Export(sel, dir) // dir/intel.env
//
// Each variable belongs to one collective. Its value has one of four syntaxes. The syntax
// "ranks" gives ranges of message size and communicator size for each algorithm:
//
//	I_MPI_ADJUST_BCAST='1:0-1024@4-8,0-512@9-16;3:1025-65536@4-8'
//
// Exported ranges never overlap, so their order does not matter. The library decides calls
// that no range contains. The syntax "sizes" gives one algorithm for each range of message
// size:
//
//	MV2_INTER_BCAST_TUNING='1:0-1024,8:1025-+'
//
// Such a value replaces the library's own table completely: no range can be left to the
// library, and the value is the same for all communicators. Merge therefore selects for each
// layout separately. It sets a variable only if, at every tuned size, some algorithm is
// predicted to be within MaxLoss of the best, the library's default included. Jobs of other
// layouts keep the library's tables.
//
// The syntax "job" gives one algorithm for all calls of a job, by one variable or several:
//
//	MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial
//
// Merge then sets the variables of a collective for a layout only if one algorithm is within
// MaxLoss of the best at every tuned size.
//
// The syntax "scores" of UCC has the tokens of all collectives in one variable:
//
//	UCC_TL_UCP_TUNE=allreduce:0-8192:host:[4-8]:inf:@knomial#bcast:0-inf:host:[4-8]:inf:@dbt
//
// To measure an algorithm, a launch has the variables that select it for all calls. No way
// is known to observe the algorithm that runs, so each measurement counts as not observed,
// and a verification as not proved. The column tried says which settings ran on a real library;
// the snippet repeats it.
package settings
