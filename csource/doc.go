// Package csource holds the C source of tutti's programs and compiles it on the target with the
// site's MPI compiler.
//
//	built, err := csource.Build(ctx, csource.Bench, "mpicc", "/scratch/me/tutti-native")
//	if err != nil {
//		return err // matches ErrCompiler if the compiler is missing or fails
//	}
//	fmt.Println(built.Path, built.Checksum) // tutti-native --version prints it, too
//
// Each program has a folder. bench measures. pair checks that a library and its launcher work.
// probe detects the algorithm that a library runs. runtime is preloaded into applications,
// policy makes its decisions in simulations, and conformance checks the results of its algorithms. Folder workload calls any collective in all forms and
// checks its data. Folder test has the programs of tests.
//
// One launch of Bench measures many algorithms, collectives and sizes of one layout. Its argument
// is the path of a plan (bench/plan.c has the grammar). Rank 0 prints one JSON object on each line,
// flushed at once:
//
//	hello    format, checksum of the source, ranks on which nodes, library, clock
//	begin    a case begins
//	check    the form of its call that is checked next, so that a crash can be attributed
//	result   its median in seconds, the interval of the median, samples, why it ended
//	refused  why it cannot be measured; the program continues with the next case
//	error    why nothing is measured: wrong plan, wrong world; the exit code is not 0
//	hang     a case took too long; the program ends
//	end      all cases are done
//
// The time of a call ends when its last process leaves. Calls start at agreed times of rank 0's
// clock; its offset to the clocks of other nodes is estimated again as it drifts. A case with too
// many late starts uses barriers instead and reports that. A case ends when the 95 % interval of
// its median (order statistics) is narrow enough, when its slice of time is used up, or when its
// time exceeds the abort factor times the best of the same collective and size.
//
// Ranks are on one node if they have the same processor name and the same shared-memory domain.
package csource
