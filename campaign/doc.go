// Package campaign owns the loop: ask a strategy, measure the batch, train models and
// evaluate them, until the criteria hold or a limit is reached; then tune the forests
// and conclude what to select. It is the only package that drives the others.
//
// Everything it does is written to a Log before the next step, and told again
// from the log's records it repeats the same decisions: an interrupted campaign
// that goes on ends with the same selection as one that was never interrupted.
//
//	res, err := campaign.Run(ctx, spec, problem, history, journal, nil)
//	if err != nil {
//		return err
//	}
//	if !res.Stop.Good() {
//		fmt.Println("not converged:", res.Stop)
//	}
//	trained, err := campaign.Train(spec, problem, res)
//	if err != nil {
//		return err
//	}
//	done, err := trained.Conclude(condemned)
package campaign
