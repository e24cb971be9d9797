package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/benchrunner/live"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/metrics"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/preprocess"
	"tutti/store"
	"tutti/surrogate/forest"
	"tutti/surrogate/learner"
)

// built is a campaign ready to run.
type built struct {
	config   *config.Campaign
	spec     campaign.Spec
	problems []campaign.Problem    // by library as configured, then by collective as configured
	jobs     benchrunner.Scheduler // nil until something is measured
	machines []*live.Machine       // of a campaign that measures, by library, once connected
	warnings []string
	again    string // the command that goes on when this one is interrupted
}

// build makes the problems of a campaign, from recorded data where it has them.
func build(c *config.Campaign) (*built, error) {
	spec, err := specOf(c)
	if err != nil {
		return nil, withCode(codeInput, err)
	}
	b := &built{config: c, spec: spec, again: "tutti resume " + shellWord(nearPath(c.Output))}
	if err := b.addProblems(); err != nil {
		return nil, withCode(codeInput, err)
	}
	if err := b.weigh(); err != nil {
		return nil, withCode(codeInput, err)
	}
	b.addEarlier()
	share := 1 / float64(len(b.problems))
	b.spec.Limits.MachineSeconds = c.Stop.MachineTime.Seconds() * share
	b.spec.Limits.NodeSeconds = c.Stop.NodeHours * 3600 * share
	return b, nil
}

func (b *built) addProblems() error {
	if b.config.Runner.Live() {
		for _, lib := range b.config.Libraries {
			if err := b.addMeasured(lib); err != nil {
				return err
			}
		}
		return nil
	}
	recorded, err := b.readData()
	if err != nil {
		return err
	}
	for _, lib := range b.config.Libraries {
		if err := b.addLibrary(lib, recorded); err != nil {
			return err
		}
	}
	return nil
}

// weigh gives the points of every problem their weights. What is odd about them is
// told once, however many libraries there are.
func (b *built) weigh() error {
	for i, p := range b.problems {
		weights, warnings, err := b.config.Grid.WeightsOf(p.Space.Points())
		if err != nil {
			return err
		}
		b.problems[i].Weights = weights
		for _, w := range warnings {
			if !slices.Contains(b.warnings, w) {
				b.warnings = append(b.warnings, w)
			}
		}
	}
	return nil
}

func specOf(c *config.Campaign) (campaign.Spec, error) {
	criterion, err := forest.ParseCriterion(c.Model.Criterion)
	if err != nil {
		return campaign.Spec{}, err
	}
	return campaign.Spec{
		Seed:     c.Seed,
		Strategy: c.Strategy.Name,
		Initial:  c.Strategy.Initial,
		Batch:    campaign.Batch{Candidates: c.Strategy.Batch, Growth: c.Strategy.Growth},
		Criteria: activelearn.Criteria{Slowdown: c.Stop.Slowdown, Mistakes: c.Stop.Mistakes, Patience: c.Stop.Patience},
		Judge:    campaign.Judge(c.Stop.Judge),
		Limits:   activelearn.Limits{Wall: c.Stop.WallTime},
		Metrics:  metrics.Options{MistakeThreshold: c.Stop.MistakeThreshold},
		Launch:   launchModel(c),
		Learner: learner.Options{
			Model:   learner.Model(c.Model.Kind),
			Scaling: preprocess.Scaling(c.Model.Scaling),
			Forest: forest.Options{
				Trees: c.Model.Trees, Criterion: criterion, MaxDepth: c.Model.MaxDepth, MinSplit: c.Model.MinSplit,
				MinLeaf: c.Model.MinLeaf, MaxFeatures: c.Model.MaxFeatures,
				Workers: 1, // problems run side by side instead
			},
		},
		Folds:    c.Model.Folds,
		Attempts: c.Attempts,
		HPO:      c.HPO.Trials,
	}, nil
}

// launchModel is what one start of the benchmark program serves: native switches
// algorithms while it runs, the others only go through sizes.
func launchModel(c *config.Campaign) benchrunner.LaunchModel {
	switch {
	case !c.Runner.Live():
		return benchrunner.LaunchModel(c.Runner.Launch.Model)
	case c.Benchmark.Program == "native":
		return benchrunner.LaunchNative
	}
	return benchrunner.LaunchOSU
}

func (b *built) readData() ([]coll.Measurement, error) {
	var all []coll.Measurement
	from := map[coll.Candidate]string{}
	for _, path := range b.config.Runner.Data {
		table, err := preprocess.ReadTable(path)
		if err != nil {
			return nil, err
		}
		for _, w := range table.Warnings {
			b.warnings = append(b.warnings, fmt.Sprintf("%s: %v", filepath.Base(path), w))
		}
		for _, m := range table.Measurements() {
			if other, twice := from[m.Candidate]; twice {
				return nil, fmt.Errorf("%v is recorded in %s and in %s", m.Candidate, other, path)
			}
			from[m.Candidate] = path
			all = append(all, m)
		}
	}
	return all, nil
}

// addLibrary makes the problems of one library: the recorded data under its
// names, with its own choices, cut down to the grid and to what it can run.
func (b *built) addLibrary(lib config.Library, recorded []coll.Measurement) error {
	port, cat, err := libraries.Release(lib.Name, lib.Version)
	if err != nil {
		return err
	}
	named, err := b.named(lib, recorded)
	if err != nil {
		return err
	}
	byDefault, err := b.byDefault(lib, recorded)
	if err != nil {
		return err
	}
	named = slices.Concat(named, byDefault)
	check := b.checker(port, cat)
	for _, name := range b.config.Collectives {
		collective, err := coll.ParseCollective(name)
		if err != nil {
			return err
		}
		p, err := b.problem(lib, collective, named, check)
		if err != nil {
			return err
		}
		b.problems = append(b.problems, p)
	}
	return nil
}

var errOutside = errors.New("outside the grid")

// named returns the recorded data under the names of a library.
func (b *built) named(lib config.Library, recorded []coll.Measurement) ([]coll.Measurement, error) {
	path := b.config.Runner.Names
	if path == "" {
		return recorded, nil
	}
	names, err := preprocess.ReadNames(path)
	if err != nil {
		return nil, err
	}
	if err := mustHold(path, "library", names.Libraries(), lib.Name); err != nil {
		return nil, err
	}
	b.warnOfUnnamed(names, recorded)
	out, _ := names.Translate(recorded, lib.Name)
	return out, nil
}

// byDefault returns what a library's own choices take, nil when nobody says what
// they are.
func (b *built) byDefault(lib config.Library, recorded []coll.Measurement) ([]coll.Measurement, error) {
	path := b.config.Runner.Defaults
	if path == "" {
		return nil, nil
	}
	defaults, err := preprocess.ReadDefaults(path)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(
		mustHold(path, "library", defaults.Libraries(), lib.Name),
		mustHold(path, "machine", defaults.Machines(), b.config.Runner.Recorded),
	); err != nil {
		return nil, err
	}
	return defaults.Rows(recorded, b.config.Runner.Recorded, lib.Name), nil
}

// mustHold reports that a file knows nothing of a library or machine: all of its
// rows would be left out without a word.
func mustHold(path, what string, known []string, name string) error {
	if slices.Contains(known, name) {
		return nil
	}
	return fmt.Errorf("%s: no row for the %s %q: it has %s", path, what, name, strings.Join(known, ", "))
}

// checker accepts what the library can run at the points of the grid.
func (b *built) checker(port mpi.Library, cat *mpi.Catalogue) func(coll.Candidate) error {
	g := b.config.Grid
	safe := b.config.Export.OpSafe && !port.Facts().Guards
	return func(c coll.Candidate) error {
		if len(g.Nodes) > 0 && !slices.Contains(g.Nodes, c.Nodes) ||
			len(g.PPN) > 0 && !slices.Contains(g.PPN, c.PPN) ||
			len(g.Sizes) > 0 && c.Collective.Sized() && !slices.Contains(g.Sizes, c.MsgBytes) {
			return errOutside
		}
		if err := cat.Check(c); err != nil {
			return err
		}
		if safe && !c.Algorithm.IsDefault() {
			if e, err := cat.Lookup(c.Collective, c.Algorithm); err != nil || !e.OpSafe {
				return errors.New("wrong for non-commutative operations, and rules cannot guard it")
			}
		}
		return nil
	}
}

func (b *built) problem(lib config.Library, collective coll.Collective, named []coll.Measurement, check func(coll.Candidate) error) (campaign.Problem, error) {
	var truth []coll.Measurement
	var left leftOut
	for _, m := range named {
		if m.Collective != collective {
			continue
		}
		if err := check(m.Candidate); err != nil {
			left.add(m, err)
			continue
		}
		truth = append(truth, m)
	}
	if left.unknown > 0 {
		b.warnings = append(b.warnings, fmt.Sprintf("%s %s has no %s algorithm %s: %d recorded rows left out",
			lib.Name, lib.Version, collective, strings.Join(left.algorithms, ", "), left.unknown))
	}
	id := store.Problem{Library: lib.Name, Collective: collective}
	machine, err := replay.New(truth, replay.Options{
		Seed:        b.config.Seed,
		Noise:       replay.Noise{Sigma: b.config.Runner.Noise, TailProbability: b.config.Runner.Tail},
		FailureRate: b.config.Runner.Failures,
		Launch: benchrunner.Launch{
			Model:          benchrunner.LaunchModel(b.config.Runner.Launch.Model),
			Seconds:        b.config.Runner.Launch.Time.Seconds(),
			SecondsPerNode: b.config.Runner.Launch.TimePerNode.Seconds(),
		},
	})
	if err != nil {
		return campaign.Problem{}, fmt.Errorf("%s: %w", id, err)
	}
	sp := machine.Space()
	if sp.Size() == 0 {
		return campaign.Problem{}, fmt.Errorf("%s %s %s: no recorded measurement lies on the grid and can run there: %v",
			lib.Name, lib.Version, collective, &left)
	}
	slices.SortFunc(truth, func(a, b coll.Measurement) int { return coll.CompareCandidates(a.Candidate, b.Candidate) })
	return campaign.Problem{
		Problem: id, Space: sp, Runner: machine, Truth: truth,
		ExhaustiveSeconds: machine.ExhaustiveSeconds(sp.Candidates()),
	}, nil
}

// libraryOf returns the build a problem is for.
func (b *built) libraryOf(p campaign.Problem) config.Library {
	for _, lib := range b.config.Libraries {
		if lib.Name == p.Library {
			return lib
		}
	}
	panic("a problem of no library") // problems are made from the libraries
}

// workers is the number of problems tuned side by side: one where tutti computes on
// the nodes that it measures.
func (b *built) workers() int {
	switch {
	case b.config.Runner.Kind == config.Local, b.config.Runner.Kind == config.Allocation:
		return 1
	case b.config.Workers > 0:
		return b.config.Workers
	}
	return runtime.GOMAXPROCS(0)
}
