// Package campaign runs the loop of a campaign: ask a strategy, measure the batch, train and
// evaluate models, until the criteria hold or a limit is reached. Then it tunes the forests and
// concludes what to select. It is the only package that drives the others.
//
// Every step is written to a Log before the next one. Given the log's records, a campaign repeats
// its decisions: an interrupted campaign that is resumed ends with the same selection as one that
// was not interrupted.
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
//	done, err := trained.Conclude(rejected)
package campaign
