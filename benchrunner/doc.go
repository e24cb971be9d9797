// Package benchrunner says how a batch of candidates is measured. A Runner takes
// requests and gives back one trial for each; replay answers from recorded
// measurements, synthetic makes a machine whose best algorithm is known, and
// runnertest is the suite that every Runner passes.
//
//	err := runner.Run(ctx, benchrunner.Batch{Round: 1, Requests: requests}, benchrunner.TrialLog(func(t coll.Trial) error {
//		return journal.Append(store.Record{Kind: store.KindTrial, Trial: &t})
//	}))
package benchrunner
