// Package online holds policies that choose algorithms while applications run and learn
// from the times of their calls, and replays them over recorded times: IOTA, a share of
// exploration, STAR-MPI and ours, between the library as shipped and the fastest choices.
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
