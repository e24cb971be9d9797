// Package activelearn says what to measure next and when to stop. A Strategy
// proposes candidates from what a Ledger knows; a Watch turns evaluations,
// budgets and the state of the ledger into a StopReason.
//
//	ledger := activelearn.NewLedger(space)
//	strategy, err := activelearn.New("uncertainty", activelearn.Options{Seed: 1})
//	if err != nil {
//		return err
//	}
//	batch, err := strategy.Ask(activelearn.State{Round: 1, Want: 8, Ledger: ledger})
//	for _, c := range batch {
//		ledger.Pend(c)
//	}
package activelearn
