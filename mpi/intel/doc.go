// Package intel is Intel MPI: its algorithms, and the I_MPI_ADJUST variables that
// choose among them.
//
//	cat := intel.Library.Releases()[0] // 2019
//	b, err := intel.Library.Open(cat, "")
//	if err != nil {
//		return err
//	}
//	sel, err := b.Fit(rows, mpi.FitOptions{MaxLoss: 0.01})
//	if err != nil {
//		return err
//	}
//	x, err := b.Export(sel, dir) // dir/intel.env
//
// A variable is for one collective and has, for each number of an algorithm, the
// ranges of message size and of ranks where it is taken:
//
//	I_MPI_ADJUST_BCAST='1:0-1024@4-8,0-512@9-16;3:1025-65536@4-8'
//
// Ranges that Export writes never overlap, so that their order says nothing; what
// none of them holds is left to the library. The variables know nothing of nodes:
// layouts that lose by that have settings of their own, as in selection.Selection.
//
// Everything here follows the library's Developer Reference, chapter I_MPI_ADJUST
// Family Environment Variables. It was not tried on a real Intel MPI, and the
// snippet says so.
package intel
