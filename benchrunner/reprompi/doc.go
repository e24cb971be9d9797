// Package reprompi measures with mpibenchmark of ReproMPI, release 1.0.1 and the
// development version. One start serves one collective and algorithm over any
// message sizes.
//
//	program, err := reprompi.New(reprompi.Options{Path: "/opt/reprompi/bin/mpibenchmark"})
//	groups := program.Group(cases)
//
// # What the numbers are
//
// ReproMPI prints the time of every call, of the rank that took longest.
// Seconds is their median, Low and High the interval of order statistics that
// holds the median with 95 %. With Summary it prints its own medians and there is
// no interval: less to write for many repetitions. Calls that the window
// synchronisation found invalid are left out. There is no warm-up; the median
// passes over the first calls.
//
// CostSeconds is the sum of the times of the calls, which leaves out their
// synchronisation.
//
// Reductions sum MPI_FLOAT, all others move MPI_BYTE. ReproMPI counts the bytes of
// reduce_scatter and reduce_scatter_block for each rank, we count the whole
// vector.
package reprompi
