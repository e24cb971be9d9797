package config

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/campaign"
	"tutti/coll"
	"tutti/coll/catalogue"
	"tutti/preprocess"
	"tutti/surrogate/forest"
)

// field is one key of a campaign file: the template, the defaults and the checks
// all come from here.
type field struct {
	key     string
	doc     string // one line, what it is and what is allowed
	initial any    // default; nil when the key must be given
	read    func(c *Campaign, v any) error
}

// fields lists every key in the order of the template.
func fields() []field {
	return []field{
		{"name", "name of the campaign: letters, digits, ._-", nil, text(func(c *Campaign) *string { return &c.Name }, isName)},
		{"machine", "what the report calls the machine", "", text(func(c *Campaign) *string { return &c.Machine }, anything)},
		{"seed", "seed of everything random: the same seed gives the same campaign", 1, seed},
		{"output", "folder of the journal, the report and the selection files", nil, text(func(c *Campaign) *string { return &c.Output }, notEmpty)},
		{"workers", "problems tuned at the same time; 0: one for each processor", 0, whole(func(c *Campaign) *int { return &c.Workers }, 0, 4096)},
		{"attempts", "attempts at a benchmark before it is given up", 2, whole(func(c *Campaign) *int { return &c.Attempts }, 1, 100)},
		{"libraries", "MPI builds to tune for: name (mpich or openmpi), version and, for mpich, the path of libmpich.so when it is on this machine", nil, libraries},
		{"collectives", "collectives to tune: " + strings.Join(collectiveNames(), ", "), nil, texts(func(c *Campaign) *[]string { return &c.Collectives }, isCollective)},

		{"grid.nodes", "node counts, any numbers; none: every recorded one", []any{}, wholes(func(c *Campaign) *[]int { return &c.Grid.Nodes })},
		{"grid.ppn", "processes per node, any numbers; none: every recorded one", []any{}, wholes(func(c *Campaign) *[]int { return &c.Grid.PPN })},
		{"grid.sizes", "message sizes such as 8B, 64KiB, 1MiB; none: every recorded one", []any{}, sizes(func(c *Campaign) *[]int64 { return &c.Grid.Sizes })},

		{"runner.kind", "how benchmarks are run: replay (from recorded measurements)", "replay", text(func(c *Campaign) *string { return &c.Runner.Kind }, oneOf("replay"))},
		{"runner.data", "files of recorded measurements (CSV)", nil, texts(func(c *Campaign) *[]string { return &c.Runner.Data }, notEmpty)},
		{"runner.names", "file that translates recorded algorithm names to the library's; none: they are the library's", "", text(func(c *Campaign) *string { return &c.Runner.Names }, anything)},
		{"runner.defaults", "file of the libraries' own choices at each point; none: not measured", "", text(func(c *Campaign) *string { return &c.Runner.Defaults }, anything)},
		{"runner.recorded", "name of the machine in the defaults file", "", text(func(c *Campaign) *string { return &c.Runner.Recorded }, anything)},
		{"runner.noise", "relative noise added to each recorded time, 0 to 1", 0.0, number(func(c *Campaign) *float64 { return &c.Runner.Noise }, 0, 1)},
		{"runner.noise_tail", "share of the runs that are outliers, 0 to 1", 0.0, number(func(c *Campaign) *float64 { return &c.Runner.Tail }, 0, 1)},
		{"runner.failures", "share of the runs that fail, 0 to 1", 0.0, number(func(c *Campaign) *float64 { return &c.Runner.Failures }, 0, 1)},
		{"runner.launch.model", "what one launch serves: candidate, osu (all sizes of an algorithm) or native (a whole layout)", "osu", text(func(c *Campaign) *string { return &c.Runner.Launch.Model }, isLaunchModel)},
		{"runner.launch.time", "machine time of a launch", "0s", duration(func(c *Campaign) *time.Duration { return &c.Runner.Launch.Time })},
		{"runner.launch.time_per_node", "and more for each node", "0s", duration(func(c *Campaign) *time.Duration { return &c.Runner.Launch.TimePerNode })},

		{"strategy.name", "what to measure next: " + strings.Join(activelearn.Names(), ", "), "uncertainty", text(func(c *Campaign) *string { return &c.Strategy.Name }, oneOf(activelearn.Names()...))},
		{"strategy.initial", "points drawn at random before a model chooses", 5, whole(func(c *Campaign) *int { return &c.Strategy.Initial }, 1, 100000)},
		{"strategy.batch", "benchmarks in a round, at least", 8, whole(func(c *Campaign) *int { return &c.Strategy.Batch }, 1, 100000)},
		{"strategy.growth", "and at least this share of those done so far, 0 to 1", 0.05, number(func(c *Campaign) *float64 { return &c.Strategy.Growth }, 0, 1)},

		{"model.scaling", "scaling of the times: " + joined(preprocess.Scalings()), "algorithm_log10", text(func(c *Campaign) *string { return &c.Model.Scaling }, isScaling)},
		{"model.trees", "trees of a forest", 100, whole(func(c *Campaign) *int { return &c.Model.Trees }, 1, 100000)},
		{"model.criterion", "what a split lowers: squared_error, absolute_error, friedman_mse, poisson", "squared_error", text(func(c *Campaign) *string { return &c.Model.Criterion }, isCriterion)},
		{"model.max_depth", "depth of a tree; 0: no limit", 0, whole(func(c *Campaign) *int { return &c.Model.MaxDepth }, 0, 1000)},
		{"model.min_split", "rows a node needs to be split", 2, whole(func(c *Campaign) *int { return &c.Model.MinSplit }, 2, 100000)},
		{"model.min_leaf", "rows a leaf must keep", 1, whole(func(c *Campaign) *int { return &c.Model.MinLeaf }, 1, 100000)},
		{"model.max_features", "features tried at a split, 1 to 3; 0: all", 0, whole(func(c *Campaign) *int { return &c.Model.MaxFeatures }, 0, 3)},
		{"model.folds", "folds of the cross-validation", 5, whole(func(c *Campaign) *int { return &c.Model.Folds }, 2, 1000)},

		{"stop.judge", "what the criteria are held against: cross-validated (the measurements) or reference (the complete recorded data)", "cross-validated", text(func(c *Campaign) *string { return &c.Stop.Judge }, isJudge)},
		{"stop.slowdown", "average slowdown must be below", 1.03, number(func(c *Campaign) *float64 { return &c.Stop.Slowdown }, 1, 1000)},
		{"stop.mistakes", "share of significant mistakes must be below, 0.001 to 1", 0.05, number(func(c *Campaign) *float64 { return &c.Stop.Mistakes }, 0.001, 1)},
		{"stop.mistake_threshold", "a mistake is slower than the best by more than this share", 0.10, number(func(c *Campaign) *float64 { return &c.Stop.MistakeThreshold }, 0.0001, 1000)},
		{"stop.patience", "rounds in a row that both must hold", 3, whole(func(c *Campaign) *int { return &c.Stop.Patience }, 1, 1000)},
		{"stop.machine_time", "budget of machine time, shared evenly by the problems; 0s: none", "0s", duration(func(c *Campaign) *time.Duration { return &c.Stop.MachineTime })},
		{"stop.wall_time", "limit of waiting for one problem; 0s: none", "0s", duration(func(c *Campaign) *time.Duration { return &c.Stop.WallTime })},

		{"hpo.trials", "trials of the hyperparameter study after measuring; 0: none", 30, whole(func(c *Campaign) *int { return &c.HPO.Trials }, 0, 100000)},

		{"export.max_loss", "predicted loss allowed for a smaller selection tree, 0 to 1", 0.02, number(func(c *Campaign) *float64 { return &c.Export.MaxLoss }, 0, 1)},
		{"export.op_safe", "leave out algorithms that are wrong for non-commutative operations where the library cannot guard them: true or false", true, boolean(func(c *Campaign) *bool { return &c.Export.OpSafe })},
	}
}

func collectiveNames() []string {
	var names []string
	for _, c := range coll.Collectives() {
		names = append(names, string(c))
	}
	return names
}

func joined[T ~string](values []T) string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return strings.Join(names, ", ")
}

func anything(string) error { return nil }

func notEmpty(s string) error {
	if s == "" {
		return fmt.Errorf("is empty")
	}
	return nil
}

func isName(s string) error {
	_, err := coll.NewAlgorithm(s) // names share one alphabet
	if err != nil {
		return fmt.Errorf("%q: want letters, digits and ._-", s)
	}
	return nil
}

func oneOf(allowed ...string) func(string) error {
	return func(s string) error {
		if !slices.Contains(allowed, s) {
			return fmt.Errorf("%q: want one of %s", s, strings.Join(allowed, ", "))
		}
		return nil
	}
}

func isCollective(s string) error {
	_, err := coll.ParseCollective(s)
	return err
}

func isLaunchModel(s string) error {
	_, err := benchrunner.ParseLaunchModel(s)
	return err
}

func isScaling(s string) error {
	_, err := preprocess.ParseScaling(s)
	return err
}

func isCriterion(s string) error {
	_, err := forest.ParseCriterion(s)
	return err
}

func isJudge(s string) error {
	_, err := campaign.ParseJudge(s)
	return err
}

func seed(c *Campaign, v any) error {
	n, err := toWhole(v, 0, math.MaxInt64)
	c.Seed = uint64(n)
	return err
}

// libraries reads the list of builds; each needs a version of the catalogue.
func libraries(c *Campaign, v any) error {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return fmt.Errorf("want a list of libraries, each with name and version")
	}
	var faults faultList
	for i, item := range list {
		lib, err := toLibrary(item)
		if err == nil && slices.ContainsFunc(c.Libraries, func(o Library) bool { return o.Name == lib.Name }) {
			err = fmt.Errorf("%s is given twice: want one build of a library in a campaign", lib.Name)
		}
		if err != nil {
			faults.add(fmt.Sprintf("[%d]", i), err)
		}
		c.Libraries = append(c.Libraries, lib)
	}
	return faults.err()
}

func toLibrary(item any) (Library, error) {
	m, ok := item.(map[string]any)
	if !ok {
		return Library{}, fmt.Errorf("want name, version and perhaps path")
	}
	var lib Library
	into := map[string]*string{"name": &lib.Name, "version": &lib.Version, "path": &lib.Path}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		target, known := into[key]
		if !known {
			return lib, fmt.Errorf("unknown key %q: want name, version, path", key)
		}
		s, ok := m[key].(string)
		if !ok {
			return lib, fmt.Errorf("%s: %v: want text in quotes", key, m[key])
		}
		*target = s
	}
	if lib.Name == "" || lib.Version == "" {
		return lib, fmt.Errorf("%s %s: want name and version", cmp.Or(lib.Name, "no name"), cmp.Or(lib.Version, "without a version"))
	}
	if _, err := catalogue.For(lib.Name, lib.Version); err != nil {
		return lib, err
	}
	return lib, nil
}
