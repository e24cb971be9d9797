// Package native runs tutti's own benchmark program (package tutti/csource) as a
// benchrunner.Program: one launch measures many algorithms, collectives and sizes of a
// layout.
//
//	p, err := native.New(native.Options{Path: "/scratch/me/tutti-native", ProgramOptions: benchrunner.ProgramOptions{Warmup: 5,
//		MinSamples: 30, MaxSamples: 1000, Precision: 0.02, Slice: time.Second, AbortFactor: 10, Check: true}})
//	groups := p.Group(cases)       // one group for each launch
//	cmd, err := p.Command(launch)  // with the plan in its Files
//	reading := p.Read(launch, out) // checks the output
//
// A case that crashes or hangs ends its launch: that case has failed, earlier cases are
// done, and later ones were not reached.
package native
