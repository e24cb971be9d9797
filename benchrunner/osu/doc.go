// Package osu measures with the collective programs of the OSU Micro-Benchmarks,
// 5.x to 7.x. One start serves one collective and algorithm over message sizes
// that double, which is all the programs can sweep.
//
//	program, err := osu.New(osu.Options{Dir: "/opt/osu/mpi/collective", Version: "7.4"})
//	groups := program.Group(cases)
//
// # What the numbers are
//
// Seconds is the column Max Latency of the full listing: the mean over all timed
// calls of the rank whose mean is largest. OSU has no median of the latest
// rank. With Tail, releases from 7.3 also print the median over the calls of
// the mean over the ranks; where the mean is more than twice that, a warning
// says that few calls were much slower than the others.
//
// OSU times each rank between its own entry into a call and its own return;
// a barrier stands between calls and is not timed, and no interval can be given.
// CostSeconds counts timed and warm-up calls at the measured mean.
//
// OSU does not print how many ranks it had. A world of one rank refuses to
// run and several worlds print several headers; how many ranks run on which
// host they say themselves before they become the program.
package osu
