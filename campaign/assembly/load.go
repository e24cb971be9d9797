package assembly

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/local"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/mpi"
)

// loading is the algorithm of a benchmark case that only tests whether a program can load selection files.
var loading = coll.Algorithm{Name: "tuned"}

// caseTimeout is the time limit of a test case with two ranks on this host. If the case ends in time, MPI
// counts as usable on this host.
const caseTimeout = time.Minute

// mostLoaded is how many settings CheckLoads tests. Each takes a launch, half a second to a few seconds.
const mostLoaded = 5

// CheckLoads tests the settings that make a library load its selection files: it runs one case of a benchmark
// program with each of the first mostLoaded settings. Those of the smallest layout come first. It returns an error if a
// case fails. It does nothing for a campaign on recorded data.
//
// If the campaign submits its jobs to a queue, two ranks on this host run the case instead. The case first
// runs without the settings. If it fails even without them, CheckLoads returns nil.
func (c *Campaign) CheckLoads(ctx context.Context, lib config.Library, setup mpi.Setup) (err error) {
	if c.scheduler == nil {
		return nil
	}
	dir, err := os.MkdirTemp(c.Config.Output, "load-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	here := c.Sequential().In(dir)
	here.scheduler = c.scheduler
	point := c.smallest(lib.Name)
	if here.Config.Runner.Facts().Queue() {
		here.Config.Runner.Kind = local.Kind{}.Facts().Name
		if lib.Launcher == benchrunner.Srun {
			lib.Launcher, lib.LauncherPath, lib.LauncherArgs = "", "", nil
		}
		point.Nodes, point.PPN, lib.PMI = 1, 2, ""
		if here.scheduler, err = local.New(local.Options{Nodes: point.Nodes, PPN: point.PPN}); err != nil {
			return err
		}
		trying, cancel := context.WithTimeout(ctx, caseTimeout)
		defer cancel()
		if err := here.runOnce(trying, lib, point, nil); err != nil {
			return ctx.Err() // even without the settings, MPI does not work on this host
		}
	}
	all := setup.Distinct(point.Layout())
	for _, settings := range all[:min(len(all), mostLoaded)] {
		if err := here.runOnce(ctx, lib, point, settings); err != nil {
			return err
		}
	}
	return nil
}

// runOnce runs one case of a library's benchmark program with the given settings.
func (c *Campaign) runOnce(ctx context.Context, lib config.Library, point coll.Point, settings []mpi.Setting) error {
	c.id = journal.NewID() // jobs of different settings have different names
	program, err := c.Program(lib)
	if err != nil {
		return err
	}
	var f mpi.Forcing
	for _, s := range settings {
		f.Base = append(f.Base, mpi.Var{Name: s.Name, Value: s.Value})
	}
	f.Env = f.Base
	machine, err := c.Machine(lib, program, func(coll.Candidate) (mpi.Forcing, error) { return f, nil })
	if err != nil {
		return err
	}
	batch := benchrunner.Batch{Label: fmt.Sprintf("%s-load-%d", lib.Name, len(settings)), Round: 1}
	batch.Requests = []benchrunner.Request{{Candidate: coll.Candidate{Point: point, Algorithm: loading}, Attempt: 1}}
	return machine.Run(ctx, batch, benchrunner.TrialLog(func(t coll.Trial) error {
		if t.State != coll.TrialDone {
			return fmt.Errorf("a program does not run with them: %s", t.Error)
		}
		return nil
	}))
}

// smallest returns the point of a library with the fewest ranks, and of several the one with the smallest message.
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
