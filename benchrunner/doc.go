// Package benchrunner defines how a batch of candidates is measured. A Runner takes
// requests and logs one trial for each. Package replay takes the times from recorded
// measurements. Package live measures on a real machine with a Scheduler, a Launcher and a Program.
//
//	err := runner.Run(ctx, benchrunner.Batch{Round: 1, Requests: requests}, benchrunner.TrialLog(func(t coll.Trial) error {
//		return j.Append(journal.Record{Kind: journal.KindTrial, Trial: &t})
//	}))
package benchrunner
