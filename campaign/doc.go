// Package campaign runs the loop of a campaign. A round asks a strategy for a batch, measures the
// batch and evaluates models, until the criteria hold or a limit is reached. Then the campaign
// tunes the forests and makes the selection. No other package calls strategy,
// runner and models together.
//
// Every step is written to a Log before the next step. A resumed campaign repeats the decisions in
// the log, so it makes the same selection as a campaign without interruption.
//
//	res, err := campaign.Run(ctx, spec, problem, history, journal, nil)
//	if err != nil {
//		return err
//	}
//	if !res.Stop.Good() {
//		fmt.Println("not converged:", res.Stop)
//	}
//	model, err := campaign.Train(spec, problem, res)
//	if err != nil {
//		return err
//	}
//	final, err := model.Conclude(rejected)
package campaign
