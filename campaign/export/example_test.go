package export_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/internal/config"
	"tutti/journal"
)

// models runs a small campaign on recorded data and trains its models.
func models() (*assembly.Campaign, *export.FinalModels, error) {
	cfg, err := config.Load("../../configs/small.yaml", config.Layers{Set: []string{"collectives=alltoall", "method=fact", "hpo.trials=0"}})
	if err != nil {
		return nil, nil, err
	}
	c, err := assembly.New(cfg)
	if err != nil {
		return nil, nil, err
	}
	results, err := c.Run(context.Background(), &journal.State{}, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	m, err := export.Train(context.Background(), c, results)
	return c, m, err
}

// This example writes the files of a campaign: the report, the selection and the files of the libraries.
func ExampleTrain() {
	_, m, err := models()
	if err != nil {
		fmt.Println(err)
		return
	}
	conclusions, err := m.Conclude(&journal.State{}) // an empty journal has no verification
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	facts, err := conclusions.Write(context.Background(), dir, export.Program{Version: "v1.2.0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(facts.Problems[0].Stop, facts.Libraries[0].Library, facts.Libraries[0].Version)
	for _, f := range files {
		fmt.Println(filepath.Base(f))
	}
	// Output:
	// converged mpich 4.0.2
	// curve.csv
	// modulefiles
	// mpich.csh
	// mpich.env
	// mpich.json
	// report.html
	// report.json
	// selection.csv
}
