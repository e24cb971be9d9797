// Package csource is the C source that tutti carries, and how it is compiled on the
// target with the site's MPI compiler.
//
//	built, err := csource.Build(ctx, csource.Bench, "mpicc", "/scratch/me/tutti-native")
//	if err != nil {
//		return err // matches ErrCompiler where the compiler is to blame
//	}
//	fmt.Println(built.Path, built.Checksum) // tutti-native --version says it, too
//
// Each program has a folder: bench measures, pair tells whether a library and its
// launcher work, probe shows which algorithm a library enters, runtime is preloaded
// into applications. Folder workload has a call of any collective in all its forms, with
// data and check; folder test has what tests run.
//
// One launch of Bench measures many algorithms, collectives and sizes of one layout.
// It takes the path of a plan (bench/plan.c has its grammar) and rank 0 prints one
// JSON object a line, flushed at once:
//
//	hello    format, checksum of the source, ranks on which nodes, library, clock
//	begin    a case is being measured
//	check    which other form of its call is checked, so that a crash can be told
//	result   its median in seconds, the interval of the median, samples, why it ended
//	refused  why it cannot be measured; the program goes on with the next case
//	error    why nothing is measured: wrong plan, wrong world; the exit code is not 0
//	hang     a case took longer than any can; the program ends
//	end      all cases have been dealt with
//
// A time is that of the latest process. Calls start at agreed times of one clock,
// rank 0's, whose offset to the clocks of other nodes is estimated and estimated
// again as it drifts; a case whose starts come late too often goes over to barriers
// and says so. A case ends when the 95 % interval of its median (order statistics)
// is tight, its slice of time is used up, or it is hopeless: beyond a factor of the
// best that was seen for the same collective and size.
//
// The check of a node's share of ranks needs no configuration: ranks share a node
// when they have the same processor name and the same shared-memory domain.
package csource
