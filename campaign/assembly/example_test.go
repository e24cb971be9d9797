package assembly_test

import (
	"context"
	"fmt"
	"os"

	"tutti/campaign/assembly"
	"tutti/internal/config"
	"tutti/journal"
)

// This example runs the campaign that a campaign file describes.
func ExampleNew() {
	cfg, err := config.Load("../../configs/small.yaml", config.Layers{Set: []string{"method=fact", "hpo.trials=0"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := assembly.New(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := c.Connect(journal.NewID(), os.Environ()); err != nil { // recorded data need no machine
		fmt.Println(err)
		return
	}
	results, err := c.Run(context.Background(), &journal.State{}, nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, p := range c.Problems {
		fmt.Println(p.Problem, results[i].Stop)
	}
	// Output:
	// mpich allgather converged
	// mpich alltoall converged
}
