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
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/metrics"
	"tutti/mpi"
	"tutti/preprocess"
	"tutti/selection"
	"tutti/surrogate/forest"
	"tutti/surrogate/learner"
)

// Campaign is a configuration with its tuning problems. Connect adds the machines that measure them.
type Campaign struct {
	Config   *config.Campaign
	Spec     campaign.Spec
	Problems []campaign.Problem // one for each configured library and collective, in this order
	Warnings []string

	// Notice is called every few seconds with an error while a scheduler does not respond. It must be set
	// before Connect, or be nil. Several goroutines may call it at the same time.
	Notice func(error)

	unmeasurable []LeftOut          // problems that the benchmark program cannot measure
	releases     map[string]release // of the libraries, by name

	// The fields below are set by Connect, for a campaign on a real machine.
	id        string
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

// build returns the campaign that a configuration describes. `past` is the state from the
// campaign's journal; it is empty for a new campaign.
func build(cfg *config.Campaign, past *journal.State) (*Campaign, error) {
	spec, err := specOf(cfg)
	if err != nil {
		return nil, input(err)
	}
	c := &Campaign{Config: cfg, Spec: spec, releases: map[string]release{}}
	dropUnmeasurable := func() error { return c.dropUnmeasurable(past) }
	for _, step := range []func() error{c.openReleases, c.addProblems, dropUnmeasurable, c.setWeights, c.addEarlier} {
		if err := step(); err != nil {
			return nil, input(err)
		}
	}
	machine, node := past.PreflightSeconds()
	c.Spec.Limits.MachineSeconds = c.share(cfg.Stop.MachineTime.Seconds(), machine)
	c.Spec.Limits.NodeSeconds = c.share(cfg.Stop.NodeHours*3600, node)
	return c, nil
}

// share returns the part of a limit of the campaign that each of its problems gets, after a part was used. A limit of
// zero means none.
func (c *Campaign) share(limit, used float64) float64 {
	if limit == 0 {
		return 0
	}
	return max(limit-used, 1e-3) / float64(len(c.Problems))
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

// release is a library that a campaign tunes, opened in its configured version.
type release struct {
	port  mpi.Library
	cat   *mpi.Catalogue // of the installed library, or of its release if err is set
	build mpi.Build
	err   error // why the installed library cannot be opened here
}

// start identifies the settings with which a program starts that measures a candidate. It returns "" for a candidate
// that cannot be forced.
func (r release) start(c coll.Candidate) string {
	f, err := mpi.Force(r.port, r.cat, c)
	if err != nil {
		return ""
	}
	return f.Start()
}

// openReleases opens the libraries. It warns of releases without a catalogue.
func (c *Campaign) openReleases() error {
	for _, lib := range c.Config.Libraries {
		port, cat, err := lib.Release()
		if err != nil {
			return err
		}
		r := release{port: port, cat: cat}
		if r.build, r.err = port.Open(cat, lib.Path); r.err == nil {
			r.cat = r.build.Catalogue()
		}
		c.releases[lib.Name] = r
		switch {
		case !cat.KnownSeries() && r.err != nil:
			return r.err
		case !cat.KnownSeries():
			c.warn("%s %s: no release of this series is known: the algorithms are those that the library lists; compare the files with the default by tutti verify", lib.Name, lib.Version)
		case cat.Listed != cat.Version:
			c.warn("%s %s: the algorithms are those of the nearest known release, %s", lib.Name, lib.Version, cat.Listed)
		}
	}
	c.Warnings = append(c.Warnings, c.SiteWarnings()...)
	return nil
}

func (c *Campaign) addProblems() error {
	if c.Config.Runner.Live() {
		for _, lib := range c.Config.Libraries {
			if err := c.addMeasured(lib); err != nil {
				return err
			}
		}
		return nil
	}
	recorded, err := c.readData()
	if err != nil {
		return err
	}
	for _, lib := range c.Config.Libraries {
		if err := c.addRecorded(lib, recorded); err != nil {
			return err
		}
	}
	return nil
}

// setWeights computes, for every problem, how much each of its points counts.
func (c *Campaign) setWeights() error {
	for i, p := range c.Problems {
		weights, warnings, err := weightsOf(c.Config.Grid, p.Space.Points())
		if err != nil {
			return err
		}
		c.Problems[i].Weights = weights
		for _, w := range warnings {
			c.warnOnce(w)
		}
	}
	return nil
}

func (c *Campaign) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

// warnOnce adds a warning unless the campaign already has it.
func (c *Campaign) warnOnce(warning string) {
	if !slices.Contains(c.Warnings, warning) {
		c.Warnings = append(c.Warnings, warning)
	}
}

// MeasuredCompletely returns a text for each problem that has so few points that
// all its candidates will be measured.
func (c *Campaign) MeasuredCompletely() (texts []string) {
	for _, p := range c.Problems {
		if activelearn.MeasuresAll(c.Spec.CriteriaFrom, p.Space) {
			texts = append(texts, fmt.Sprintf("%s: %d points are too few for predictions: everything is measured unless a limit ends the campaign", p.Problem, len(p.Space.Points())))
		}
	}
	return texts
}

// LibraryOf returns the configuration of a problem's library.
func (c *Campaign) LibraryOf(p campaign.Problem) config.Library {
	for _, lib := range c.Config.Libraries {
		if lib.Name == p.Library {
			return lib
		}
	}
	panic("a problem without library") // impossible: every problem belongs to a configured library
}

// Workers returns how many problems are tuned at the same time. It is one if
// tutti itself runs on the nodes that are measured.
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
		Criteria:     activelearn.Criteria{Slowdown: c.Stop.Slowdown, Mistakes: c.Stop.Mistakes, Patience: c.Stop.Patience, Confidence: c.Stop.Confidence},
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

// fitFor returns a function that makes selection rules for one collective from the times of the algorithms at
// each point. The library must be able to express the rules.
func (c *Campaign) fitFor(r release) func([]selection.Row) (activelearn.Selection, error) {
	return func(rows []selection.Row) (activelearn.Selection, error) {
		if r.err != nil {
			return activelearn.Selection{}, r.err
		}
		sel, err := mpi.Fit(r.build, rows, mpi.FitOptions{MaxLoss: c.Config.Export.MaxLoss, OpSafe: c.Config.Export.OpSafe})
		return activelearn.Selection{Leaves: sel.Leaves(), Choose: func(p coll.Point) coll.Algorithm {
			alg, _ := sel.Select(p) // outside the tuned range this is the library's default
			return alg
		}}, err
	}
}
