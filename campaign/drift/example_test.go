package drift_test

import (
	"context"
	"fmt"
	"os"

	"tutti/campaign/assembly"
	"tutti/campaign/drift"
	"tutti/internal/config"
	"tutti/journal"
)

// A machine that is still the one that was tuned, but for the noise of the benchmarks.
func ExampleMeasure() {
	cfg, err := config.Load("../../configs/small.yaml", config.Layers{Set: []string{"strategy.name=uncertainty", "hpo.trials=0"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := assembly.New(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	results, err := c.Run(context.Background(), &journal.State{}, nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	probe, err := drift.Measure(context.Background(), c, results, 16, os.Environ())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d measured again: they differ by %.0f %%, times are %.1f of what they were\n", probe.Candidates, 100*probe.Change, probe.Ratio)
	// Output: 16 measured again: they differ by 2 %, times are 1.0 of what they were
}
