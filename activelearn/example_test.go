package activelearn_test

import (
	"fmt"

	"tutti/activelearn"
)

func ExampleStrategy() {
	ledger := activelearn.NewLedger(sweep(10))
	strategy, err := activelearn.New("uncertainty", activelearn.Options{Seed: 1, Initial: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	batch, err := strategy.Ask(activelearn.State{Round: 1, Want: 8, Ledger: ledger})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range batch {
		if err := ledger.Pend(c); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(len(batch), "asked for,", ledger.FreeCount(), "left")
	// Output: 8 asked for, 32 left
}
