// Package simulate replays applications over recorded times, run after run, under policies that
// choose the algorithm of each call and learn from its time. The policies explore and learn run
// the C code of libtutti that ships; package online learns between runs.
//
//	trace, err := preprocess.ReadTrace("app.csv")
//	...
//	app, err := simulate.NewApplication("app", trace, recorded, nil)
//	...
//	outcome, err := simulate.Run(ctx, app, simulate.PolicyTutti, nil, simulate.DefaultOptions())
//	...
//	header, rows := simulate.Table([]simulate.Outcome{outcome})
package simulate
