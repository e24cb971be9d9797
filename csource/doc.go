// Package csource holds the C source of tutti's programs and compiles it on the target with the
// site's MPI compiler.
//
//	built, err := csource.Build(ctx, csource.Bench, "mpicc", "/scratch/me/tutti-native")
//	if err != nil {
//		return err // matches ErrCompiler if the compiler is missing or fails
//	}
//	fmt.Println(built.Path, built.Checksum) // tutti-native --version prints it, too
//
// Each program has a folder:
//
//	bench        measures collectives; with the files of folder pairs it also measures pairs of ranks
//	pair         checks that a library and its launcher work
//	probe        detects the algorithm that a library runs
//	runtime      the library libtutti, which is preloaded into applications
//	policy       makes the decisions of libtutti for a simulated job
//	conformance  checks the results of libtutti's algorithms
//
// The files of folder workload call any collective in all forms and check its data. Folder cvar reads and
// writes MPI_T control variables. Folder simulate has programs for the simulator SimGrid, and folder
// testdata has programs of tests.
//
// One launch of Bench measures many algorithms, collectives and sizes of one layout. The program's
// argument is the path of a plan (bench/plan.c has the grammar). Rank 0 prints one JSON object on each
// line, flushed at once:
//
//	hello    format, checksum of the source, ranks on which nodes, library, clock
//	begin    a case begins
//	check    the form of the case's call that is checked next, so that a crash can be attributed
//	result   the case's median in seconds, the interval of the median, samples, why the case ended
//	refused  why the case cannot be measured; the program continues with the next case
//	error    why nothing is measured: wrong plan, wrong nodes or ranks; the exit code is not 0
//	hang     a case took too long; the program ends
//	end      all cases are done
//
// The time of a call ends when the last process leaves the call. Calls start at agreed times of rank 0's
// clock. The offsets between this clock and those of other nodes are estimated again as clocks drift. A
// case with too many late starts uses barriers instead and reports that.
//
// A case ends when the 95 % interval of its median (order statistics) is narrow enough, or when its slice
// of time is used up. It also ends when its time exceeds the abort factor times the best time of the same
// collective and size.
//
// Ranks are on one node if they have the same processor name and the same shared-memory domain.
package csource
