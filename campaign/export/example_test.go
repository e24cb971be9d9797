package export_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/report"
	"tutti/selection"
)

// models are trained on what a small campaign of recorded data has measured.
func models() (*assembly.Campaign, *export.Models, error) {
	cfg, err := config.Load("../../configs/small.yaml", config.Layers{Set: []string{"collectives=alltoall", "strategy.name=uncertainty", "hpo.trials=0"}})
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

// The files of a campaign: the report, the selection, and what the libraries load.
func ExampleTrain() {
	_, m, err := models()
	if err != nil {
		fmt.Println(err)
		return
	}
	done, err := m.Conclude(&journal.State{}) // of the journal, with what verifications condemned
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
	facts, err := done.Write(dir, export.Program{Version: "v1.2.0"})
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

// What a release is summary. MPICH's files are made from its own tree: of releases other than
// those whose tree is known, the library itself is needed.
func ExampleReleases() {
	c, m, err := models()
	if err != nil {
		fmt.Println(err)
		return
	}
	done, err := m.Conclude(&journal.State{})
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
		target, err := done.For(r)
		if err != nil {
			fmt.Println(err)
			return
		}
		summary := target.Summary()
		fmt.Println(summary.Library, summary.Version, "is summary of", summary.Points, "points,", summary.Left, "are left to it")
	}
	// Output:
	// --for mpich=4.2.3: mpich 4.2.3: no built-in selection tree known without the library: give the path of its libmpich.so, as in --for mpich=4.2.3:PATH
	// mpich 4.0.2 is summary of 72 points, 0 are left to it
}

// What a journal holds beside the results of the problems: here, a job.
func ExampleAddJournal() {
	bcast := journal.Problem{Library: "mpich", Collective: coll.Bcast}
	state := journal.Replay([]journal.Record{{Kind: journal.KindJob, Problem: bcast, Round: 1, Job: &coll.Job{
		Name: "a", State: coll.JobEnded, Nodes: 4, Spent: coll.Spent{Queue: 60, Launch: 1, Measure: 20},
	}}})
	var f report.Facts
	if err := export.AddJournal(&f, state, []string{"mpich"}, 2); err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range f.MachineTime {
		fmt.Println(m.Library, m.Collective, m.Jobs, "job,", m.NodeSeconds(), "node-seconds")
	}
	// Output: mpich bcast 1 job, 84 node-seconds
}

// The facts of one problem, from its result and what was concluded from it.
func ExampleProblemFacts() {
	cfg, err := config.Load("../../configs/small.yaml", config.Layers{Set: []string{"collectives=alltoall", "strategy.name=uncertainty", "hpo.trials=0"}})
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
	trained, err := campaign.Train(c.Spec, c.Problems[0], results[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	done, err := trained.Conclude(selection.Rejected{})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := export.ProblemFacts(c.Problems[0], results[0], done)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Library, p.Collective, p.Stop, p.PointsMeasured, "of", p.Points, "points")
	for _, s := range p.Scores {
		fmt.Printf("%s: slowdown %.2f\n", s.Name, s.Slowdown)
	}
	// Output:
	// mpich alltoall converged 43 of 72 points
	// tuned: slowdown 1.00
	// default: slowdown 1.06
}
