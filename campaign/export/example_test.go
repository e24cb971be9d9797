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
func models() (*assembly.Campaign, *export.Models, error) {
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

// ExampleTrain writes the files of a campaign: report, selection and files of the libraries.
func ExampleTrain() {
	_, m, err := models()
	if err != nil {
		fmt.Println(err)
		return
	}
	conclusions, err := m.Conclude(&journal.State{}) // an empty journal: no verification
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
	// mpich.env
	// mpich.json
	// report.html
	// report.json
	// selection.csv
}

// ExampleReleases prints a summary of the export for a release. tutti derives MPICH's files from the
// release's built-in selection tree. If it does not know this tree, it needs the library file.
func ExampleReleases() {
	c, m, err := models()
	if err != nil {
		fmt.Println(err)
		return
	}
	conclusions, err := m.Conclude(&journal.State{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = export.Releases(c, []string{"mpich=4.2.3"})
	fmt.Println(err)
	releases, err := export.Releases(c, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range releases {
		target, err := conclusions.For(r)
		if err != nil {
			fmt.Println(err)
			return
		}
		summary := target.Summary()
		fmt.Println(summary.Library, summary.Version, "has", summary.Points, "points,", summary.Left, "with its default")
	}
	// Output:
	// --for mpich=4.2.3: mpich 4.2.3: no built-in selection tree known without the library: give the path of its libmpich.so, as in --for mpich=4.2.3:PATH
	// mpich 4.0.2 has 72 points, 0 with its default
}
