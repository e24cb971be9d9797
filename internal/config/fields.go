package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/benchrunner/runners"
	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// field describes a key of a configuration file. The template, the defaults, the checks, the reference and
// the JSON schema are generated from the list of fields.
type field struct {
	key     string
	doc     string // one line: meaning and allowed values
	initial any    // default; nil for keys that are required
	value   value
}

// optional is the value of field.initial for keys that may be missing and have no default.
var optional any = struct{}{}

// fields returns every key of campaign files, in the order of the template. The value of a key is stored in a
// field of c.
func fields(c *Campaign) []field {
	return slices.Concat(measuringFields(c), sectionFields(&c.Sections), learningFields(c))
}

// measuringFields returns the keys that say what is measured, and how.
func measuringFields(c *Campaign) []field {
	return []field{
		{"name", "name of the campaign: letters, digits, ._-", nil, text(&c.Name, isName)},
		{"machine", "name of the machine in the report", "", text(&c.Machine, anything)},
		{"site", "profile of the site: a file with the keys machine, runner.*, slurm.* and pbs.*, and libraries by name (path, launcher, env and so on); it sets what this file leaves out", "", text(&c.Site, anything)},
		{"seed", "seed of all random numbers; with runner.kind replay the same seed gives the same campaign, on a machine times differ from run to run", 1, seed(&c.Seed)},
		{"output", "folder of the journal, the report and the selection files", nil, text(&c.Output, notEmpty)},
		{"workers", "number of problems tuned at the same time; 0: one for each processor", 0, whole(&c.Workers, 0, 4096)},
		{"attempts", "attempts at a benchmark before it is excluded", 2, whole(&c.Attempts, 1, 100)},
		{"libraries", "MPI libraries to tune: name and version; path of libmpich.so or libmpi.so if it is on this machine. To measure, also benchmark (the program built with the library, or a folder of several), launcher (srun, hydra, mpirun, pals), launcher_path, launcher_args, pmi (pmi2, pmix), env and for libtutti algorithms (shared objects with algorithms of users)", nil, objects(&c.Libraries, 1, libraryFields, checkLibrary)},
		{"collectives", "collectives to tune: " + strings.Join(Collectives(), ", "), nil, choices(&c.Collectives, 1, Collectives()...)},

		{"grid.nodes", "numbers of nodes; replay: empty for all recorded ones", []any{}, wholes(&c.Grid.Nodes)},
		{"grid.ppn", "numbers of processes per node; replay: empty for all recorded ones", []any{}, wholes(&c.Grid.PPN)},
		{"grid.sizes", "message sizes, as 8B, 64KiB, 1MiB; replay: empty for all recorded ones", []any{}, sizes(&c.Grid.Sizes)},
		{"grid.between", "axes that get numbers between those of the grid, of nodes, ppn and sizes: nodes and ppn get the numbers halfway between successive powers of two, as 3 and 12. Sizes get those near which the choice changes and matters (method regret) or those halfway between powers of two (fact). Replay: those that are recorded", []any{BetweenNodes, BetweenSizes}, choices(&c.Grid.Between, 0, BetweenNodes, BetweenPPN, BetweenSizes)},
		{"grid.weights", "points that matter more: a list of weight with collective, nodes, ppn and sizes, each a number or a range (8.., ..64KiB, 2..16); the weights of all items that match a point are multiplied, default 1", []any{}, objects(&c.Grid.Weights, 0, weightFields, nil)},
		{"grid.trace", "calls of an application, which weight the points: a CSV file with collective, nodes or processes, ppn, msg_bytes, calls and optionally seconds, the mean times of these calls added up", "", text(&c.Grid.Trace, anything)},

		{"runner.kind", "how benchmarks are run: " + kindsText(), "replay", choice(&c.Runner.Kind, runners.Names()...)},
		{"runner.data", "replay: files of recorded measurements (CSV)", []any{}, texts(&c.Runner.Data, 0, notEmpty)},
		{"runner.names", "replay: file that maps recorded algorithm names to those of the library; empty if they are the same", "", text(&c.Runner.Names, anything)},
		{"runner.defaults", "replay: file of the libraries' default algorithms at each point; empty if unknown", "", text(&c.Runner.Defaults, anything)},
		{"runner.recorded", "replay: name of the machine in the defaults file", "", text(&c.Runner.Recorded, anything)},
		{"runner.noise", "replay: relative noise added to each recorded time, 0 to 1; not added to recorded repetitions", 0.0, number(&c.Runner.Noise, 0, 1)},
		{"runner.noise_tail", "replay: share of outliers, 0 to 1; not added to recorded repetitions", 0.0, number(&c.Runner.Tail, 0, 1)},
		{"runner.job_noise", "replay: relative noise common to all times of a job, 0 to 1; a round is one job", 0.0, number(&c.Runner.JobNoise, 0, 1)},
		{"runner.failures", "replay: share of failing runs, 0 to 1", 0.0, number(&c.Runner.Failures, 0, 1)},
		{"runner.launch.model", "replay: what one launch measures: candidate, osu (all sizes of an algorithm) or native (a whole layout)", "osu", choice(&c.Runner.Launch.Model, coll.Words(benchrunner.LaunchModels())...)},
		{"runner.launch.time", "replay: machine time of a launch", "0s", duration(&c.Runner.Launch.Time)},
		{"runner.launch.time_per_node", "replay: additional machine time of a launch for each node", "0s", duration(&c.Runner.Launch.TimePerNode)},
		{"runner.ppn", "local: maximum number of processes at once; 0: one for each processor", 0, whole(&c.Runner.PPN, 0, 1<<20)},
		{"runner.hosts", "allocation: file of the nodes, a name on each line, or lists as n[1-4]; empty: the nodes of the job of Slurm, PBS or LSF in which tutti runs", "", text(&c.Runner.Hosts, anything)},
		{"runner.modules", "environment modules to load before the benchmarks", []any{}, texts(&c.Runner.Modules, 0, isPrintable)},
		{"runner.setup", "lines of bash to run before the benchmarks, after the modules", []any{}, texts(&c.Runner.Setup, 0, isPrintable)},
		{"runner.env", "environment variables of every launch, NAME=VALUE", []any{}, texts(&c.Runner.Env, 0, isVariable)},
		{"runner.launch_allowance", "time limit for the start and end of a launch", "60s", duration(&c.Runner.LaunchAllowance)},
		{"runner.rank_allowance", "additional time limit of a launch for each rank: 5ms are 5.5 minutes for 512 nodes of 128 ranks", "5ms", duration(&c.Runner.RankAllowance)},
		{"runner.settle", "time to wait for the files of a finished job", "60s", duration(&c.Runner.Settle)},
		{"runner.job_time", "maximum time limit of one job; 0s: that of the scheduler", "1h", duration(&c.Runner.JobTime)},
		{"runner.confirm", "ask for confirmation above this expected cost in node-hours", 10.0, number(&c.Runner.Confirm, 0, 1e9)},
		{"runner.node_memory", "memory of a node for message buffers, as 48GiB; benchmarks that need more are left out; 0B: as Slurm reports", "0B", size(&c.Runner.NodeMemory, 0)},
		{"runner.parallel", "slurm, allocation: run benchmarks side by side on disjoint nodes of one job: never, switch (if they share no switch), always", Never, choice(&c.Runner.Parallel, Never, Switch, Always)},
		{"runner.parallel_nodes", "maximum number of nodes of such a job; 0: the largest of grid.nodes", 0, whole(&c.Runner.ParallelNodes, 0, 1<<20)},
		{"runner.topology", "file of the switches of the nodes: topology.json of tutti topology discover, topology.conf, topology.yaml, or .txt of scontrol show topology; empty: as Slurm reports", "", text(&c.Runner.Topology, anything)},
		{"runner.switches", "instead of runner.topology: the nodes of each switch, as n[1-16]", []any{}, texts(&c.Runner.Switches, 0, isPrintable)},
		{"runner.order", "order of ranks over nodes: block (the first ranks on the first node), cyclic (one on each node in turn); the selection applies to jobs of the same order", string(coll.Block), choice(&c.Runner.Order, coll.Words(coll.Orders())...)},

		{"benchmark.program", "benchmark program: " + programsText(), runners.ProgramNames()[0], choice(&c.Benchmark.Program, runners.ProgramNames()...)},
		{"benchmark.version", usedBy("version") + "its release, as 7.4, which decides what it can measure; empty if unknown", "", text(&c.Benchmark.Version, isPrintable)},
		{"benchmark.args", usedBy("args") + "arguments of the program, separated by blanks; {collective}, {bytes}, {nodes}, {ppn}, {ranks} and {iterations} are replaced; each launch measures one case", "", text(&c.Benchmark.Args, anything)},
		{"benchmark.pattern", usedBy("pattern") + "regular expression for output lines with a time, as ^bcast (?P<bytes>[0-9]+) (?P<us>[0-9.]+); the group of the time is named by its unit: s, ms, us or ns", "", text(&c.Benchmark.Pattern, anything)},
		{"benchmark.warmup", usedBy("warmup") + "calls before the timed ones; osu: only with benchmark.iterations", 5, whole(&c.Benchmark.Warmup, 0, 1<<20)},
		{"benchmark.iterations", usedBy("iterations") + "timed calls of each size; 0: as the program decides, for own 1000", 0, whole(&c.Benchmark.Iterations, 0, 1<<24)},
		{"benchmark.min_samples", usedBy("min_samples") + "minimum number of timed calls, unless benchmark.slice ends first", 100, whole(&c.Benchmark.MinSamples, 6, 1<<20)},
		{"benchmark.max_samples", usedBy("max_samples") + "maximum number of timed calls", 1000, whole(&c.Benchmark.MaxSamples, 6, 1<<24)},
		{"benchmark.precision", usedBy("precision") + "sufficient half width of the 95 % interval of the median, as a share of it", 0.02, number(&c.Benchmark.Precision, 0.0001, 1)},
		{"benchmark.slice", usedBy("slice") + "time limit of one benchmark", "1s", duration(&c.Benchmark.Slice)},
		{"benchmark.noise_limit", usedBy("noise_limit") + "a time whose 95 % interval is wider than this share of it is too noisy: the trial fails and is repeated; 0: any is accepted", 1.0, number(&c.Benchmark.NoiseLimit, 0, 1e6)},
		{"benchmark.abort_factor", usedBy("abort_factor") + "stop a benchmark that is this many times slower than the fastest at its point; 0: never", 10.0, number(&c.Benchmark.AbortFactor, 0, 1e6)},
		{"benchmark.check", usedBy("check") + "check the data that collectives deliver: true or false", true, boolean(&c.Benchmark.Check)},
	}
}

// learningFields returns the keys that say what is measured next, and when a campaign stops.
func learningFields(c *Campaign) []field {
	return []field{
		{"method", "method that sets strategy, model, criteria and hyperparameter study together" + methodsText(), methods()[0], choice(&c.Method, methods()...)},
		{"strategy.initial", "points drawn at random before a model chooses; with the method regret only cheap points are drawn; 0: 3 with regret, 5 with fact", 0, whole(&c.Strategy.Initial, 0, 100000)},
		{"strategy.batch", "minimum number of benchmarks in a round", 8, whole(&c.Strategy.Batch, 1, 100000)},
		{"strategy.growth", "a round has at least this share of the benchmarks so far, 0 to 1", 0.05, number(&c.Strategy.Growth, 0, 1)},

		{"model.kind", "model of the files: gp (one Gaussian process of all algorithms), forest (a random forest for each algorithm) or auto (the better one on held-out points; with the method fact the best forest)", Auto, choice(&c.Model.Kind, append([]string{Auto}, coll.Words(learner.Models())...)...)},
		{"model.scaling", "scaling of the times: " + strings.Join(coll.Words(preprocess.Scalings()), ", "), "algorithm_log10", choice(&c.Model.Scaling, coll.Words(preprocess.Scalings())...)},
		{"model.trees", "number of trees of a forest", 100, whole(&c.Model.Trees, 1, 100000)},
		{"model.criterion", "split criterion of a tree: squared_error, absolute_error, friedman_mse, poisson", "squared_error", choice(&c.Model.Criterion, "squared_error", "absolute_error", "friedman_mse", "poisson")},
		{"model.max_depth", "maximum depth of a tree; 0: no limit", 0, whole(&c.Model.MaxDepth, 0, 1000)},
		{"model.min_split", "minimum number of rows of a node that is split", 2, whole(&c.Model.MinSplit, 2, 100000)},
		{"model.min_leaf", "minimum number of rows of a leaf", 1, whole(&c.Model.MinLeaf, 1, 100000)},
		{"model.max_features", fmt.Sprintf("features considered at a split, 1 to %d; 0: all", preprocess.NumFeatures), 0, whole(&c.Model.MaxFeatures, 0, preprocess.NumFeatures)},
		{"model.folds", "folds of the cross-validation", 5, whole(&c.Model.Folds, 2, 1000)},

		{"stop.criteria_from", "data for the criteria: predicted (joint draws of all times), cross-validated (the measurements), reference (the complete recorded data), or auto: predicted for the method regret, cross-validated for fact", Auto, choice(&c.Stop.CriteriaFrom, append([]string{Auto}, coll.Words(activelearn.Sources())...)...)},
		{"stop.slowdown", "criterion: the average slowdown is below this", 1.03, number(&c.Stop.Slowdown, 1, 1000)},
		{"stop.mistakes", "criterion: the share of significant mistakes is below this, 0.001 to 1", 0.05, number(&c.Stop.Mistakes, 0.001, 1)},
		{"stop.mistake_threshold", "a choice is a mistake if it is slower than the best by more than this share", 0.10, number(&c.Stop.MistakeThreshold, 0.0001, 1000)},
		{"stop.patience", "number of consecutive rounds in which both criteria hold; predicted criteria need one, noise-limited stops as many", 3, whole(&c.Stop.Patience, 1, 1000)},
		{"stop.confidence", "probability with which predictions must meet both criteria, 0.5 to 0.99", 0.8, number(&c.Stop.Confidence, 0.5, 0.99)},
		{"stop.machine_time", "budget of machine time with that of reading the settings of the machine; problems share it equally; no launch begins after it; 0s: none", "0s", duration(&c.Stop.MachineTime)},
		{"stop.node_hours", "budget of node-hours, shared equally by the problems; 0: none", 0.0, number(&c.Stop.NodeHours, 0, 1e9)},
		{"stop.wall_time", "time limit of the campaign, waiting included; a launch that runs is measured to its end; 0s: none", "0s", duration(&c.Stop.WallTime)},
		{"stop.confirm", "limit of confirmation, which measures choice and default after learning, 0 to 1000: 1 is the machine time of learning or, until the files meet stop.slowdown, half of that of measuring everything if this is more; 0: no confirmation. The budgets above include it", 1.0, number(&c.Stop.Confirm, 0, MaxConfirm)},

		{"hpo.trials", "forests that the hyperparameter study compares after measuring; 0: the configured forest alone", 100, whole(&c.HPO.Trials, 0, 100000)},

		{"export.max_loss", "predicted loss allowed for a smaller selection tree, 0 to 1", 0.02, number(&c.Export.MaxLoss, 0, 1)},
		{"export.op_safe", "leave out algorithms that are wrong for some valid calls, with non-commutative operations, types with gaps or types that differ between ranks, if the library cannot guard them: true or false", true, boolean(&c.Export.OpSafe)},
		{"export.guard", "files select an algorithm only where it was measured faster than the library's default; false: the selection as predicted, as in the papers: true or false", true, boolean(&c.Export.Guard)},
		{"export.collective_share", "assumed share of collectives in the time of applications, for the break-even in the report, if grid.trace does not have the share of its application; the default is that of production systems (Chunduri et al., SC18), 0 to 1", 0.25, number(&c.Export.CollectiveShare, 0, 1)},
	}
}

// Key is one key of campaign files, with its name and its meaning.
type Key struct {
	Name   string
	Values []string // all allowed values; empty for keys with other values
}

// Keys returns the keys of campaign files.
func Keys() []Key {
	var out []Key
	for _, f := range fields(&Campaign{}) {
		out = append(out, Key{f.key, f.value.words})
	}
	return out
}

func methods() []string {
	var out []string
	for _, m := range activelearn.Methods() {
		out = append(out, m.Name)
	}
	return out
}

// methodsText describes the methods for the documentation of the key method.
func methodsText() string {
	text := ""
	for _, m := range activelearn.Methods() {
		text += "; " + m.Name + ": " + m.Doc
	}
	return text
}

// Collectives returns the names of the collectives that can be tuned.
func Collectives() []string { return coll.Words(coll.Collectives()) }

type schema map[string]any

// sectionSchema describes the keys of a section. A dot in a key separates a section from a key inside it. The
// prefix is the name of the section followed by a dot, or empty for the whole file.
func sectionSchema(all []field, prefix string) schema {
	properties := map[string]schema{}
	var required []string
	for _, f := range all {
		rest, ok := strings.CutPrefix(f.key, prefix)
		if !ok {
			continue
		}
		if section, _, nested := strings.Cut(rest, "."); nested {
			if properties[section] == nil {
				properties[section] = sectionSchema(all, prefix+section+".")
			}
			continue
		}
		p := maps.Clone(f.value.schema)
		p["description"] = f.doc
		switch f.initial {
		case nil:
			required = append(required, rest)
		case optional:
		default:
			p["default"] = f.initial
		}
		properties[rest] = p
	}
	s := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = slices.Sorted(slices.Values(required))
	}
	return s
}
