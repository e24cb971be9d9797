package proof_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/campaign/proof"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/verify"
)

// A campaign of recorded data is proved against the data: what it selects is run beside
// the library's default, and the report says what came of it.
func ExampleProof_Library() {
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
	p, err := proof.New(ctx, c, jnl, contents.State(), proof.Options{Rules: verify.DefaultRules()})
	if err != nil {
		return err
	}
	result, err := p.Library(ctx, cfg.Libraries[0])
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
