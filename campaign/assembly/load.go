package assembly

import (
	"context"
	"errors"
	"fmt"
	"os"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/mpi"
	"tutti/selection"
)

// loading is the algorithm name of a run that loads selection files.
var loading = coll.Algorithm{Name: "tuned"}

// CheckLoads runs one case of a benchmark program with the settings that load the selection files of a
// library. It returns an error if the case fails. It does nothing for a campaign without a machine or with
// jobs that wait in a queue.
func (c *Campaign) CheckLoads(ctx context.Context, lib config.Library, setup selection.Setup) (err error) {
	if c.scheduler == nil || c.Config.Runner.Kind == config.SlurmJobs {
		return nil
	}
	dir, err := os.MkdirTemp(c.Config.Output, "load-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	here := c.Sequential().In(dir)
	here.id, here.scheduler = journal.NewID(), c.scheduler
	program, err := here.Program(lib)
	if err != nil {
		return err
	}
	machine, err := here.Machine(lib, program, func(cand coll.Candidate) (mpi.Forcing, error) {
		var f mpi.Forcing
		for _, s := range setup.For(cand.Layout()) {
			f.Base = append(f.Base, mpi.Var{Name: s.Name, Value: s.Value})
		}
		f.Env = f.Base
		return f, nil
	})
	if err != nil {
		return err
	}
	batch := benchrunner.Batch{Label: lib.Name + "-load", Round: 1}
	batch.Requests = []benchrunner.Request{{Candidate: coll.Candidate{Point: c.smallest(lib.Name), Algorithm: loading}, Attempt: 1}}
	return machine.Run(ctx, batch, benchrunner.TrialLog(func(t coll.Trial) error {
		if t.State != coll.TrialDone {
			return fmt.Errorf("a program does not run with them: %s", t.Error)
		}
		return nil
	}))
}

// smallest returns the point of a library with the fewest ranks, and of these the one with the smallest
// message.
func (c *Campaign) smallest(library string) coll.Point {
	var out coll.Point
	for _, p := range c.Problems {
		for _, point := range p.Space.Points() {
			if p.Library == library && (out.Nodes == 0 || point.Ranks() < out.Ranks() || point.Ranks() == out.Ranks() && point.MsgBytes < out.MsgBytes) {
				out = point
			}
		}
	}
	return out
}
