package assembly_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"tutti/campaign/assembly"
	"tutti/internal/config"
	"tutti/journal"
)

// tunedFolder runs a campaign on recorded data in a new folder and returns the folder.
func tunedFolder() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "example"); err != nil {
		return "", err
	}
	cfg, err := config.Load("../../configs/small.yaml", config.Layers{Set: []string{"output=" + dir, "collectives=alltoall", "strategy.name=uncertainty", "hpo.trials=0"}})
	if err != nil {
		return dir, err
	}
	c, err := assembly.New(cfg)
	if err != nil {
		return dir, err
	}
	spec, err := json.Marshal(cfg)
	if err != nil {
		return dir, err
	}
	jnl, err := journal.Create(dir, journal.Header{Campaign: cfg.Name, Seed: cfg.Seed, Spec: spec})
	if err != nil {
		return dir, err
	}
	defer jnl.Close()
	_, err = c.Run(context.Background(), &journal.State{}, jnl, nil)
	return dir, err
}

// ExampleNew runs the campaign of a file.
func ExampleNew() {
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

// ExampleReread reads the journal of a finished campaign.
func ExampleReread() {
	dir, err := tunedFolder()
	defer os.RemoveAll(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, results, contents, err := assembly.Reread(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(contents.Header.Campaign, c.Problems[0].Problem, results[0].Stop)
	// Output: small mpich alltoall converged
}

// ExampleEarlier starts a campaign from the measurements of another one.
func ExampleEarlier() {
	dir, err := tunedFolder()
	defer os.RemoveAll(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	from, err := assembly.Earlier([]string{dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg, err := config.Load("../../configs/small.yaml", config.Layers{Set: []string{"seed=2"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg.From = from
	c, err := assembly.New(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range c.Problems {
		fmt.Println(p.Problem, "starts from", p.EarlierNames)
	}
	// Output:
	// mpich allgather starts from []
	// mpich alltoall starts from [small]
}

// ExampleCampaign_Forecast prints the jobs of the first round, without submitting them.
func ExampleCampaign_Forecast() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "local.yaml")
	const text = `name: night
output: results
libraries: [{name: openmpi, version: "4.1.4", benchmark: tutti-native}]
collectives: [bcast]
grid: {nodes: [1], ppn: [2, 4], sizes: [8, 1KiB]}
runner: {kind: local, ppn: 4}
strategy: {name: uncertainty, initial: 1, batch: 6}
`
	for name, text := range map[string]string{file: text, filepath.Join(dir, "tutti-native"): ""} {
		if err := os.WriteFile(name, []byte(text), 0o777); err != nil {
			fmt.Println(err)
			return
		}
	}
	cfg, err := config.Load(file, config.Layers{})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := assembly.New(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := c.Connect("dry-run", os.Environ()); err != nil {
		fmt.Println(err)
		return
	}
	f, err := c.Forecast(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, j := range f.Jobs {
		fmt.Println(j.Name, j.Nodes, "node,", j.PPN, "processes,", j.Candidates, "candidates")
	}
	fmt.Printf("%.2f node-hours at most\n", f.NodeHours)
	// Output:
	// tutti-dry-run-openmpi-bcast-r1-1 1 node, 4 processes, 25 candidates
	// 0.17 node-hours at most
}
