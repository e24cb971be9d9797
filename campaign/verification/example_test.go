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

// ExampleVerifier_Verify verifies a campaign on recorded data: it compares the selection with the
// library's default.
func ExampleVerifier_Verify() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := tuneAndVerify(context.Background(), dir); err != nil {
		fmt.Println(err)
	}
	// Output:
	// verified: true
	// alltoall 49 points, reverted: 0
}

func tuneAndVerify(ctx context.Context, dir string) error {
	cfg, err := config.Load("../../configs/small.yaml", config.Layers{Set: []string{"output=" + dir, "collectives=alltoall", "method=fact", "hpo.trials=0"}})
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
	facts, err := p.Write(ctx, export.Program{Version: "v1.2.0"})
	if err != nil {
		return err
	}
	fmt.Println("verified:", result.Proved())
	for _, v := range facts.Verification[0].Collectives {
		fmt.Println(v.Collective, v.Points, "points, reverted:", v.Reverted)
	}
	return nil
}
