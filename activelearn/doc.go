// Package activelearn says what to measure next and when to stop. A [Strategy] proposes
// candidates from what a [Ledger] knows; a [Watch] turns evaluations, budgets and the state
// of the ledger into a [StopReason]. The strategies, by the name that [New] takes, are
//
//   - regret, the default of campaigns: single candidates that are expected to spare the
//     selection most loss for a second of machine time, by a Gaussian process of all
//     algorithms (knowledge gradients: Frazier, Powell and Dayanik, INFORMS J. Computing 21,
//     2009);
//   - uncertainty: the points whose fastest time a Gaussian process is most uncertain of
//     (Wilkins et al., "FACT", ExaMPI 2021).
//
// Use:
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
