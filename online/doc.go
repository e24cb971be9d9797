// Package online is about learning while applications run. Samples that libtutti leaves in
// jobs become advice for the next ones: what to select and what to explore.
//
//	jobs, err := online.ReadFolder("learned", "MPICH")
//	...
//	learnt, err := online.Learn(online.PolicyTutti, jobs, campaigns, selected, online.DefaultOptions())
//
// Policies that choose algorithms and learn from the times of their calls are replayed over
// recorded times: IOTA, a share of exploration, what libtutti does with advice, STAR-MPI and
// ours, between the library as shipped and the fastest choices.
//
//	trace, err := preprocess.ReadTrace("app.csv")
//	...
//	p, err := online.NewProblem("app", trace, recorded, nil)
//	...
//	o, err := online.Simulate(ctx, p, online.PolicyTutti, nil, online.DefaultOptions())
//	...
//	header, rows := online.Table([]online.Outcome{o})
//
// Detector, which says when times have changed, serves by itself.
package online
