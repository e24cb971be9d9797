package config

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/forest"
	"tutti/surrogate/learner"
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
		{"site", "profile of the site, a file with machine, runner.* and slurm.* as here, and libraries by name (path, launcher, env and so on): it says what this file leaves out; none: nothing", "", text(func(c *Campaign) *string { return &c.Site }, anything)},
		{"seed", "seed of everything random: with replay the same seed gives the same campaign; on a machine, times differ from run to run", 1, seed},
		{"output", "folder of the journal, the report and the selection files", nil, text(func(c *Campaign) *string { return &c.Output }, notEmpty)},
		{"workers", "problems tuned at the same time; 0: one for each processor", 0, whole(func(c *Campaign) *int { return &c.Workers }, 0, 4096)},
		{"attempts", "attempts at a benchmark before it is given up", 2, whole(func(c *Campaign) *int { return &c.Attempts }, 1, 100)},
		{"libraries", "MPI builds to tune for: name and version; path of libmpich.so or libmpi.so when it is on this machine; to measure also benchmark (the program built with it, or the folder of several), launcher (srun, hydra, mpirun), launcher_path, launcher_args, pmi (pmi2, pmix) and env", nil, readLibraries},
		{"collectives", "collectives to tune: " + strings.Join(collectiveNames(), ", "), nil, texts(func(c *Campaign) *[]string { return &c.Collectives }, 1, isCollective)},

		{"grid.nodes", "node counts, any numbers; replay: none means every recorded one", []any{}, wholes(func(c *Campaign) *[]int { return &c.Grid.Nodes })},
		{"grid.ppn", "processes per node, any numbers; replay: none means every recorded one", []any{}, wholes(func(c *Campaign) *[]int { return &c.Grid.PPN })},
		{"grid.sizes", "message sizes such as 8B, 64KiB, 1MiB; replay: none means every recorded one", []any{}, sizes(func(c *Campaign) *[]int64 { return &c.Grid.Sizes })},
		{"grid.weights", "what matters more: a list of collective, nodes, ppn, sizes (each a number or a range: 8.., ..64KiB, 2..16) and weight; a point has the weights of all that fit it multiplied, 1 if none", []any{}, weights},
		{"grid.trace", "calls of an application, by which points matter (CSV: collective, nodes or processes, ppn, msg_bytes, calls and perhaps seconds, the time of these calls); none: all alike", "", text(func(c *Campaign) *string { return &c.Grid.Trace }, anything)},

		{"runner.kind", "how benchmarks are run: replay (from recorded measurements), local (on this machine), slurm (jobs), allocation (the Slurm job that tutti runs in)", Replay, text(func(c *Campaign) *string { return &c.Runner.Kind }, oneOf(Kinds()...))},
		{"runner.data", "replay: files of recorded measurements (CSV)", []any{}, texts(func(c *Campaign) *[]string { return &c.Runner.Data }, 0, notEmpty)},
		{"runner.names", "replay: file that translates recorded algorithm names to the library's; none: they are the library's", "", text(func(c *Campaign) *string { return &c.Runner.Names }, anything)},
		{"runner.defaults", "replay: file of the libraries' own choices at each point; none: not measured", "", text(func(c *Campaign) *string { return &c.Runner.Defaults }, anything)},
		{"runner.recorded", "replay: name of the machine in the defaults file", "", text(func(c *Campaign) *string { return &c.Runner.Recorded }, anything)},
		{"runner.noise", "replay: relative noise added to each recorded time, 0 to 1; not to recorded repetitions", 0.0, number(func(c *Campaign) *float64 { return &c.Runner.Noise }, 0, 1)},
		{"runner.noise_tail", "replay: share of the runs that are outliers, 0 to 1; of recorded repetitions none is made one", 0.0, number(func(c *Campaign) *float64 { return &c.Runner.Tail }, 0, 1)},
		{"runner.job_noise", "replay: relative noise of all times of a job together, 0 to 1; a round is a job", 0.0, number(func(c *Campaign) *float64 { return &c.Runner.JobNoise }, 0, 1)},
		{"runner.failures", "replay: share of the runs that fail, 0 to 1", 0.0, number(func(c *Campaign) *float64 { return &c.Runner.Failures }, 0, 1)},
		{"runner.launch.model", "replay: what one launch serves: candidate, osu (all sizes of an algorithm) or native (a whole layout)", "osu", text(func(c *Campaign) *string { return &c.Runner.Launch.Model }, isLaunchModel)},
		{"runner.launch.time", "replay: machine time of a launch", "0s", duration(func(c *Campaign) *time.Duration { return &c.Runner.Launch.Time })},
		{"runner.launch.time_per_node", "replay: and more for each node", "0s", duration(func(c *Campaign) *time.Duration { return &c.Runner.Launch.TimePerNode })},
		{"runner.ppn", "local: most processes at once; 0: one for each processor", 0, whole(func(c *Campaign) *int { return &c.Runner.PPN }, 0, 1<<20)},
		{"runner.modules", "environment modules to load before the benchmarks", []any{}, texts(func(c *Campaign) *[]string { return &c.Runner.Modules }, 0, isPrintable)},
		{"runner.setup", "lines of bash to run before the benchmarks, after the modules", []any{}, texts(func(c *Campaign) *[]string { return &c.Runner.Setup }, 0, isPrintable)},
		{"runner.env", "variables of every launch, NAME=VALUE", []any{}, texts(func(c *Campaign) *[]string { return &c.Runner.Env }, 0, isVariable)},
		{"runner.launch_allowance", "time a launch may take to start and to end", "60s", duration(func(c *Campaign) *time.Duration { return &c.Runner.LaunchAllowance })},
		{"runner.rank_allowance", "and more for each of its ranks: 5ms are 5.5 minutes for 512 nodes of 128 ranks", "5ms", duration(func(c *Campaign) *time.Duration { return &c.Runner.RankAllowance })},
		{"runner.settle", "time to wait for the files of a job that has ended", "60s", duration(func(c *Campaign) *time.Duration { return &c.Runner.Settle })},
		{"runner.job_time", "most time to ask for in one job; 0s: what the scheduler allows", "1h", duration(func(c *Campaign) *time.Duration { return &c.Runner.JobTime })},
		{"runner.confirm", "node-hours that the campaign is expected to take; above them tutti asks before it submits. What it may take at most counts every limit used up, which does not happen, so that it would always ask", 10.0, number(func(c *Campaign) *float64 { return &c.Runner.Confirm }, 0, 1e9)},
		{"runner.node_memory", "memory of a node that buffers may take, as 48GiB; benchmarks that need more are left out; 0B: what Slurm says", "0B", size(func(c *Campaign) *int64 { return &c.Runner.NodeMemory })},
		{"runner.parallel", "slurm, allocation: benchmarks side by side on disjoint nodes of one job: never, switch (those that share no switch), always", Never, text(func(c *Campaign) *string { return &c.Runner.Parallel }, oneOf(Never, Switch, Always))},
		{"runner.parallel_nodes", "most nodes of such a job; 0: the largest of grid.nodes", 0, whole(func(c *Campaign) *int { return &c.Runner.ParallelNodes }, 0, 1<<20)},
		{"runner.topology", "file that says which nodes share a switch: topology.json of tutti topology discover, topology.conf, topology.yaml, .txt of scontrol show topology; none: what Slurm knows", "", text(func(c *Campaign) *string { return &c.Runner.Topology }, anything)},
		{"runner.switches", "in the place of runner.topology: nodes of each switch, as n[1-16]", []any{}, texts(func(c *Campaign) *[]string { return &c.Runner.Switches }, 0, isPrintable)},
		{"runner.order", "how ranks are dealt to nodes: block (the first ranks on the first node), cyclic (one to each node in turn); what is selected holds for jobs that do the same", string(coll.Block), text(func(c *Campaign) *string { return &c.Runner.Order }, oneOf(words(coll.Orders())...))},

		{"benchmark.program", "what measures: native (tutti build benchmark), osu, reprompi, imb", "native", text(func(c *Campaign) *string { return &c.Benchmark.Program }, oneOf(Programs()...))},
		{"benchmark.version", "osu: its release, as 7.4; from 7.3 on the median is taken instead of the mean; none: not known", "", text(func(c *Campaign) *string { return &c.Benchmark.Version }, isPrintable)},
		{"benchmark.warmup", "calls before those that are timed; osu: only with iterations", 5, whole(func(c *Campaign) *int { return &c.Benchmark.Warmup }, 0, 1<<20)},
		{"benchmark.iterations", "osu, reprompi, imb: calls timed of each size; 0: the program's own number", 0, whole(func(c *Campaign) *int { return &c.Benchmark.Iterations }, 0, 1<<24)},
		{"benchmark.min_samples", "native: calls timed, at least, unless the slice is used up", 100, whole(func(c *Campaign) *int { return &c.Benchmark.MinSamples }, 6, 1<<20)},
		{"benchmark.max_samples", "native: calls timed, at most", 1000, whole(func(c *Campaign) *int { return &c.Benchmark.MaxSamples }, 6, 1<<24)},
		{"benchmark.precision", "native: half width of the 95 % interval of the median that is enough, as a share of it", 0.02, number(func(c *Campaign) *float64 { return &c.Benchmark.Precision }, 0.0001, 1)},
		{"benchmark.slice", "native: most time for one benchmark", "1s", duration(func(c *Campaign) *time.Duration { return &c.Benchmark.Slice })},
		{"benchmark.hopeless", "native: a benchmark so many times slower than the best at its point is cut short; 0: never", 10.0, number(func(c *Campaign) *float64 { return &c.Benchmark.Hopeless }, 0, 1e6)},
		{"benchmark.check", "native: check the data that collectives deliver: true or false", true, boolean(func(c *Campaign) *bool { return &c.Benchmark.Check })},

		{"slurm.partition", "partition to submit to; none: the site's default", "", text(func(c *Campaign) *string { return &c.Slurm.Partition }, isPrintable)},
		{"slurm.account", "account that pays", "", text(func(c *Campaign) *string { return &c.Slurm.Account }, isPrintable)},
		{"slurm.qos", "quality of service", "", text(func(c *Campaign) *string { return &c.Slurm.QOS }, isPrintable)},
		{"slurm.reservation", "reservation to run in", "", text(func(c *Campaign) *string { return &c.Slurm.Reservation }, isPrintable)},
		{"slurm.constraint", "features that the nodes must have", "", text(func(c *Campaign) *string { return &c.Slurm.Constraint }, isPrintable)},
		{"slurm.directives", "further options of sbatch, each --option or --option=value", []any{}, texts(func(c *Campaign) *[]string { return &c.Slurm.Directives }, 0, isPrintable)},
		{"slurm.exclusive", "share nodes with nobody: true or false", true, boolean(func(c *Campaign) *bool { return &c.Slurm.Exclusive })},
		{"slurm.jobs", "jobs in the queue at the same time; they may disturb each other on the network", 4, whole(func(c *Campaign) *int { return &c.Slurm.Jobs }, 1, 10000)},
		{"slurm.bin", "folder of sbatch and the others; none: the search path", "", text(func(c *Campaign) *string { return &c.Slurm.Bin }, isPrintable)},

		{"strategy.name", "what to measure next: " + strings.Join(activelearn.Names(), ", "), "regret", text(func(c *Campaign) *string { return &c.Strategy.Name }, oneOf(activelearn.Names()...))},
		{"strategy.initial", "points drawn at random before a model chooses; regret begins with few cheap ones instead", 5, whole(func(c *Campaign) *int { return &c.Strategy.Initial }, 1, 100000)},
		{"strategy.batch", "benchmarks in a round, at least", 8, whole(func(c *Campaign) *int { return &c.Strategy.Batch }, 1, 100000)},
		{"strategy.growth", "and at least this share of those done so far, 0 to 1", 0.05, number(func(c *Campaign) *float64 { return &c.Strategy.Growth }, 0, 1)},

		{"model.kind", "what predicts times: gp (a Gaussian process of all algorithms), forest (a random forest for each algorithm); unset: gp for the strategy regret, forest for the others", "", text(func(c *Campaign) *string { return &c.Model.Kind }, unsetOr(oneOf(words(learner.Models())...)))},
		{"model.scaling", "scaling of the times: " + joined(preprocess.Scalings()), "algorithm_log10", text(func(c *Campaign) *string { return &c.Model.Scaling }, isScaling)},
		{"model.trees", "trees of a forest", 100, whole(func(c *Campaign) *int { return &c.Model.Trees }, 1, 100000)},
		{"model.criterion", "what a split lowers: squared_error, absolute_error, friedman_mse, poisson", "squared_error", text(func(c *Campaign) *string { return &c.Model.Criterion }, isCriterion)},
		{"model.max_depth", "depth of a tree; 0: no limit", 0, whole(func(c *Campaign) *int { return &c.Model.MaxDepth }, 0, 1000)},
		{"model.min_split", "rows a node needs to be split", 2, whole(func(c *Campaign) *int { return &c.Model.MinSplit }, 2, 100000)},
		{"model.min_leaf", "rows a leaf must keep", 1, whole(func(c *Campaign) *int { return &c.Model.MinLeaf }, 1, 100000)},
		{"model.max_features", "features tried at a split, 1 to 3; 0: all", 0, whole(func(c *Campaign) *int { return &c.Model.MaxFeatures }, 0, 3)},
		{"model.folds", "folds of the cross-validation", 5, whole(func(c *Campaign) *int { return &c.Model.Folds }, 2, 1000)},

		{"stop.judge", "what the criteria are held against: predicted (upper ends of what the model predicts), cross-validated (the measurements), reference (the complete recorded data), auto (predicted for regret, else cross-validated)", auto, text(func(c *Campaign) *string { return &c.Stop.Judge }, oneOf(append(words(activelearn.Sources()), auto)...))},
		{"stop.slowdown", "average slowdown must be below", 1.03, number(func(c *Campaign) *float64 { return &c.Stop.Slowdown }, 1, 1000)},
		{"stop.mistakes", "share of significant mistakes must be below, 0.001 to 1", 0.05, number(func(c *Campaign) *float64 { return &c.Stop.Mistakes }, 0.001, 1)},
		{"stop.mistake_threshold", "a mistake is slower than the best by more than this share", 0.10, number(func(c *Campaign) *float64 { return &c.Stop.MistakeThreshold }, 0.0001, 1000)},
		{"stop.patience", "rounds in a row that both must hold", 3, whole(func(c *Campaign) *int { return &c.Stop.Patience }, 1, 1000)},
		{"stop.machine_time", "budget of machine time, shared evenly by the problems; 0s: none", "0s", duration(func(c *Campaign) *time.Duration { return &c.Stop.MachineTime })},
		{"stop.node_hours", "budget of node-hours, shared evenly by the problems; 0: none", 0.0, number(func(c *Campaign) *float64 { return &c.Stop.NodeHours }, 0, 1e9)},
		{"stop.wall_time", "limit of waiting for one problem; 0s: none", "0s", duration(func(c *Campaign) *time.Duration { return &c.Stop.WallTime })},

		{"hpo.trials", "trials of the hyperparameter study after measuring; 0: none", 100, whole(func(c *Campaign) *int { return &c.HPO.Trials }, 0, 100000)},

		{"export.max_loss", "predicted loss allowed for a smaller selection tree, 0 to 1", 0.02, number(func(c *Campaign) *float64 { return &c.Export.MaxLoss }, 0, 1)},
		{"export.op_safe", "leave out algorithms that are wrong for some valid calls, of operations that do not commute or types with gaps, where the library cannot guard them: true or false", true, boolean(func(c *Campaign) *bool { return &c.Export.OpSafe })},
	}
}

func collectiveNames() []string {
	var names []string
	for _, c := range coll.Collectives() {
		names = append(names, string(c))
	}
	return names
}

// auto is the value of keys that follow the strategy.
const auto = "auto"

func joined[T ~string](values []T) string { return strings.Join(words(values), ", ") }

func words[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
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

// unsetOr accepts the empty text and what check accepts.
func unsetOr(check func(string) error) func(string) error {
	return func(s string) error {
		if s == "" {
			return nil
		}
		return check(s)
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

func seed(c *Campaign, v any) error {
	n, err := toWhole(v, 0, math.MaxInt64)
	c.Seed = uint64(n)
	return err
}

// Key is a key of campaign files.
type Key struct {
	Name   string
	Values []string // all allowed values; empty for keys that take others
}

// Keys returns the keys of campaign files.
func Keys() []Key {
	var out []Key
	for _, f := range fields() {
		out = append(out, Key{Name: f.key})
	}
	return out
}

// Collectives returns the names of the collectives that can be tuned.
func Collectives() []string { return words(coll.Collectives()) }
