// Package imb measures with IMB-MPI1 of the Intel MPI Benchmarks, 2019 and newer.
// One start serves one collective and algorithm over any message sizes.
//
//	program, err := imb.New(imb.Options{Path: "/opt/imb/IMB-MPI1"})
//	groups := program.Group(cases)
//
// # What the numbers are
//
// Seconds is t_max: the mean over all repetitions of the rank whose mean is
// largest. There is no median and no interval. Mind that IMB prints minimum,
// maximum and average in this order, other programs do not. IMB lowers the
// repetitions of large messages; Samples is what it did.
//
// CostSeconds counts the repetitions at the measured mean. Reductions sum
// MPI_FLOAT, all others move MPI_BYTE.
package imb
