// Package native runs tutti's own benchmark program (package tutti/csource) as a
// benchrunner.Program: one start measures many algorithms, collectives and sizes of
// a layout.
//
//	p, err := native.New(native.Options{Path: "/scratch/me/tutti-native", Warmup: 5,
//		MinSamples: 30, MaxSamples: 1000, Precision: 0.02, Slice: time.Second, AbortFactor: 10, Check: true})
//	starts := p.Group(cases)      // those that one start of the library can serve
//	cmd, err := p.Command(start)  // with the plan in its Files
//	reading := p.Read(start, out) // never trusts
//
// A case that crashes or hangs the library ends its start: it has failed, the cases
// before it are done, and those behind it were not reached.
package native
