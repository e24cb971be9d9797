// Package assembly builds a campaign from its configuration or its journal: the problems, and the
// machines that measure them. It creates schedulers, launchers and benchmark programs.
//
//	c, err := assembly.New(cfg)
//	if err != nil {
//		return err
//	}
//	if err := c.Connect(journal.NewID(), os.Environ()); err != nil {
//		return err
//	}
//	results, err := c.Run(ctx, &journal.State{}, log, nil)
//
// RestoreAll rebuilds a campaign from the journal in its folder. Campaign.Forecast returns the first jobs of a
// campaign.
package assembly

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/benchrunner/live"
	"tutti/campaign"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/forest"
	"tutti/surrogate/learner"
)

// Campaign is a configuration with its tuning problems. Connect adds the machines that measure them.
type Campaign struct {
	Config   *config.Campaign
	Spec     campaign.Spec
	Problems []campaign.Problem // one for each configured library and collective, in this order
	Warnings []string

	// Notice receives why the campaign waits, every few seconds. Errors that match benchrunner.ErrNoResults are about
	// jobs, others about the scheduler. It must be set before Connect, or be nil. Several goroutines may call it.
	Notice func(error)

	unmeasurable []LeftOut          // problems that the benchmark program cannot measure
	releases     map[string]release // of the libraries, by name

	// The fields below are set by Connect, for a campaign on a real machine.
	id        string
	shell     []string // environment of this process, if launches get it
	scheduler benchrunner.Scheduler
	machines  []*live.Machine // machine of each library
}

// ErrInput is matched by errors in campaign files, recorded data and journals.
var ErrInput = errors.New("bad input")

// inputError wraps an error so that it matches ErrInput. The text of the error does not change.
type inputError struct{ error }

func (e inputError) Unwrap() error        { return e.error }
func (e inputError) Is(target error) bool { return target == ErrInput }

// input returns err as an error that also matches ErrInput. For nil it returns nil.
func input(err error) error {
	if err == nil {
		return nil
	}
	return inputError{err}
}

// New returns the campaign of a configuration with its problems. For a replay it reads the recorded data. It also
// reads the trace and the topology files that `cfg` names, and stores their contents in `cfg`. If the benchmark
// program cannot measure a collective, New adds a warning instead of a problem. Errors match ErrInput.
func New(cfg *config.Campaign) (*Campaign, error) {
	if err := readFiles(cfg); err != nil {
		return nil, input(err)
	}
	return build(cfg, &journal.State{})
}

// build returns the campaign that a configuration describes. `past` is the state of its journal, empty for a new one.
func build(cfg *config.Campaign, past *journal.State) (*Campaign, error) {
	spec, err := specOf(cfg)
	if err != nil {
		return nil, input(err)
	}
	c := &Campaign{Config: cfg, Spec: spec, releases: map[string]release{}}
	b := &builder{c, past}
	for _, step := range []func() error{b.openReleases, b.addProblems, b.dropUnmeasurable, b.setWeights, b.addEarlier} {
		if err := step(); err != nil {
			return nil, input(err)
		}
	}
	machine, node := past.PreflightSeconds()
	c.Spec.Limits.MachineSeconds = share(cfg.Stop.MachineTime.Seconds(), machine, len(c.Problems))
	c.Spec.Limits.NodeSeconds = share(cfg.Stop.NodeHours*3600, node, len(c.Problems))
	return c, nil
}

// share returns the part of a limit of the campaign that each of its problems gets, after a part was used. A limit of
// zero means none.
func share(limit, used float64, problems int) float64 {
	if limit == 0 {
		return 0
	}
	return max(limit-used, 1e-3) / float64(problems)
}

// Restore returns the campaign that a journal describes. `dir` is the folder of the journal.
func Restore(contents *journal.Contents, dir string) (*Campaign, error) {
	cfg, err := config.Restore(contents.Header.Spec, dir)
	if err != nil {
		return nil, input(fmt.Errorf("journal of %s: %w", dir, err))
	}
	for i, lib := range cfg.Libraries {
		cfg.Libraries[i].Site = contents.State().Site(lib.Name)
	}
	c, err := build(cfg, contents.State())
	if err != nil {
		return nil, fmt.Errorf("campaign of %s: %w", dir, err)
	}
	return c, nil
}

// In returns a copy of the campaign that uses the folder `dir` and is not connected to the machine. Such a
// copy makes other measurements on the same machine.
func (c *Campaign) In(dir string) *Campaign {
	other, settings := *c, *c.Config
	settings.Output = dir
	other.Config, other.Problems, other.Warnings = &settings, slices.Clone(c.Problems), slices.Clone(c.Warnings)
	other.id, other.scheduler, other.machines = "", nil, nil
	return &other
}

// Sequential returns a copy of the campaign that runs one program at a time, so that programs do not disturb
// each other. The copy accepts noisy times, because callers measure each candidate several times. It has the
// same scheduler.
func (c *Campaign) Sequential() *Campaign {
	other, settings := *c, *c.Config
	settings.Runner.Parallel, settings.Benchmark.NoiseLimit = config.Never, 0
	other.Config = &settings
	return &other
}

// MeasuredCompletely returns a text for each problem with so few points that all its candidates will be measured.
func (c *Campaign) MeasuredCompletely() (texts []string) {
	for _, p := range c.Problems {
		if activelearn.MeasuresAll(c.Spec.CriteriaFrom, p.Space) {
			texts = append(texts, fmt.Sprintf("%s: %d points are too few for predictions: everything is measured unless a limit ends the campaign", p.Problem, len(p.Space.Points())))
		}
	}
	return texts
}

// Workers returns how many problems are tuned at the same time: one if tutti runs on the nodes that are measured.
func (c *Campaign) Workers() int {
	switch {
	case c.Config.Runner.Facts().Attached:
		return 1
	case c.Config.Workers > 0:
		return c.Config.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// specOf returns the campaign.Spec of a configuration, without limits of machine time.
func specOf(c *config.Campaign) (campaign.Spec, error) {
	criterion, err := forest.ParseCriterion(c.Model.Criterion)
	if err != nil {
		return campaign.Spec{}, fmt.Errorf("model.criterion: %w", err)
	}
	model := c.MeasuringModel()
	return campaign.Spec{
		Seed:         c.Seed,
		Strategy:     activelearn.StrategyOf(c.Method),
		Initial:      c.Strategy.Initial,
		Batch:        campaign.Batch{Candidates: c.Strategy.Batch, Growth: c.Strategy.Growth},
		Criteria:     c.Stop.Criteria(),
		CriteriaFrom: activelearn.Source(c.Stop.CriteriaFrom),
		Limits:       activelearn.Limits{Wall: c.Stop.WallTime},
		Metrics:      metrics.Options{MistakeThreshold: c.Stop.MistakeThreshold},
		Launch:       launchModel(c),
		Learner: learner.Options{
			Model:   model,
			Scaling: preprocess.Scaling(c.Model.Scaling),
			Forest: forest.Options{
				Trees: c.Model.Trees, Criterion: criterion, MaxDepth: c.Model.MaxDepth, MinSplit: c.Model.MinSplit,
				MinLeaf: c.Model.MinLeaf, MaxFeatures: c.Model.MaxFeatures,
				Workers: 1, // several problems train at the same time, so one model uses a single goroutine
			},
		},
		Folds:    c.Model.Folds,
		Attempts: c.Attempts,
		Guard:    c.Export.Guard,
		Confirm:  c.Stop.Confirm,
		HPO:      c.HPO.Trials,
		Auto:     c.Model.Kind == config.Auto && model == learner.GaussianProcess,
	}, nil
}

// launchModel returns the launch model, which says which candidates can share a launch.
func launchModel(c *config.Campaign) benchrunner.LaunchModel {
	if !c.Runner.Live() {
		return benchrunner.LaunchModel(c.Runner.Launch.Model)
	}
	return c.Benchmark.Kind().Launches
}
