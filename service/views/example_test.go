package views_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/service"
	"tutti/service/views"
)

// What a campaign has learnt of one problem, as the service shows it.
func ExampleJournals_Learnt() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := tune(dir); err != nil {
		fmt.Println(err)
		return
	}
	learnt, err := views.Journals{}.Learnt(context.Background(), dir, journal.Problem{Library: "mpich", Collective: coll.Alltoall})
	if err != nil {
		fmt.Println(err)
		return
	}
	first, last := learnt.Selection.Choices[0], learnt.Selection.Choices[len(learnt.Selection.Choices)-1]
	for _, c := range []service.Choice{first, last} {
		fmt.Println(c.Nodes, "nodes,", c.Bytes, "bytes:", c.Algorithm)
	}
	// Output:
	// 4 nodes, 1 bytes: scattered
	// 32 nodes, 131072 bytes: library_default
}

// tune runs a campaign of recorded data in a folder.
func tune(dir string) error {
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
	_, err = c.Run(context.Background(), &journal.State{}, jnl, nil)
	return err
}

// What the machine of a campaign file is like: recorded data have libraries and no nodes.
func ExampleMachine_See() {
	seen, err := views.Machine{}.See(context.Background(), service.Base{File: "../../configs/small.yaml"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(seen.Libraries[0].Name, seen.Libraries[0].Version, len(seen.Nodes))
	// Output: mpich 4.0.2 0
}
