package verification_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/campaign/verification"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/verify"
)

// A campaign of recorded data is proved against the data: what it selects is run beside
// the library's default, and the report says what came of it.
func ExampleVerifier_Verify() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := tuneAndProve(context.Background(), dir); err != nil {
		fmt.Println(err)
	}
	// Output:
	// proved: true
	// alltoall 49 points, put back: 0
}

func tuneAndProve(ctx context.Context, dir string) error {
	cfg, err := config.Load("../../configs/small.yaml", config.Layers{Set: []string{"output=" + dir, "collectives=alltoall", "strategy.name=uncertainty", "hpo.trials=0"}})
	if err != nil {
		return err
	}
	c, err := assembly.New(cfg)
	if err != nil {
		return err
	}
	spec, err := json.Marshal(cfg)
	if err != nil {
		return err
	}
	jnl, err := journal.Create(dir, journal.Header{Campaign: cfg.Name, Seed: cfg.Seed, Spec: spec})
	if err != nil {
		return err
	}
	defer jnl.Close()
	if _, err := c.Run(ctx, &journal.State{}, jnl, nil); err != nil {
		return err
	}
	contents, err := journal.Read(dir)
	if err != nil {
		return err
	}
	p, err := verification.New(ctx, c, jnl, contents.State(), verification.Options{Rules: verify.DefaultRules()})
	if err != nil {
		return err
	}
	result, err := p.Verify(ctx, cfg.Libraries[0])
	if err != nil {
		return err
	}
	facts, err := p.Write(export.Program{Version: "v1.2.0"})
	if err != nil {
		return err
	}
	fmt.Println("proved:", result.Proved())
	for _, v := range facts.Verification[0].Collectives {
		fmt.Println(v.Collective, v.Points, "points, put back:", v.Reverted)
	}
	return nil
}

// A machine that is still the one that was tuned, but for the noise of the benchmarks.
func ExampleMeasureDrift() {
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
	probe, err := verification.MeasureDrift(context.Background(), c, results, 16, os.Environ())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d measured again: they differ by %.0f %%, times are %.1f of what they were\n", probe.Candidates, 100*probe.Change, probe.Ratio)
	// Output: 16 measured again: they differ by 2 %, times are 1.0 of what they were
}
