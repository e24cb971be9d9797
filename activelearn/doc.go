// Package activelearn decides what to measure next and when to stop.
//
// A [Strategy] selects candidates, given the [Ledger] of all trials so far. A [StopRule] evaluates
// the selection after each round, finds outliers to measure again, and compares the evaluations
// with the criteria and the limits. [Models] fits the models that strategies and stopping rule use.
// The strategies are
//
//   - regret, the default: it selects the candidates whose measurement is expected to lower the
//     loss of the selection most, per second of machine time. A Gaussian process predicts the loss
//     (knowledge gradients: Frazier, Powell and Dayanik, INFORMS J. Computing 21, 2009);
//   - uncertainty: it selects all algorithms at the points where a Gaussian process is most
//     uncertain of the fastest time (Wilkins et al., "FACT", ExaMPI 2021).
//
// A round asks for candidates and marks them as pending:
//
//	ledger := activelearn.NewLedger(space)
//	strategy, err := activelearn.New("regret", activelearn.Options{Seed: 1})
//	if err != nil {
//		return err
//	}
//	batch, err := strategy.Ask(activelearn.State{Round: 1, Want: 8, Ledger: ledger})
//	for _, c := range batch {
//		err = ledger.Pend(c)
//	}
package activelearn
