package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/lab"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

type replayInput struct {
	data  []string
	real  []string // data of real machines
	seeds int
	first uint64 // seed
}

func (r *replayInput) addFlags(flags *pflag.FlagSet, seeds int) {
	flags.StringSliceVar(&r.data, "data", nil, "recorded `FILE`s, repeated or separated by commas (required)")
	flags.IntVar(&r.seeds, "seeds", seeds, "number of seeds")
	flags.Uint64Var(&r.first, "first-seed", 1, "first of the seeds")
}

func (r *replayInput) validate() error {
	switch {
	case len(r.data)+len(r.real) == 0:
		return errors.New("--data FILE is missing")
	case r.seeds < 1:
		return fmt.Errorf("--seeds %d: want 1 or more", r.seeds)
	}
	return nil
}

// launchFlags adds the flags that set the cost of a launch. It returns a function that stores their values.
func launchFlags(flags *pflag.FlagSet, cost *benchrunner.LaunchCost) func() error {
	name := flags.String("launch", lab.LaunchNone, "what one launch measures: none (launches are free), candidate, osu or native")
	seconds := flags.Float64("launch-seconds", 0.5, "price of one launch in seconds")
	return func() error {
		launches, err := lab.ParseLaunches(*name, *seconds)
		if err == nil && len(launches) != 1 {
			err = fmt.Errorf("launch %s: want one", *name)
		}
		if err == nil {
			*cost = launches[0]
		}
		return err
	}
}

func (r *replayInput) seedList() []uint64 { return lab.Seeds(r.first, r.seeds) }

// load reads the recorded data: the sets of --data, then those of --real. It prints the warnings about them.
func (a *app) load(r replayInput) ([]lab.Set, error) {
	sets, warnings, err := lab.Load(append(slices.Clone(r.data), r.real...))
	for i, s := range sets {
		sets[i].Real = slices.ContainsFunc(r.real, func(path string) bool {
			return strings.TrimSuffix(filepath.Base(path), ".csv") == s.Data
		})
	}
	for _, w := range warnings {
		fmt.Fprintln(a.stderr, "warning:", w)
	}
	return sets, err
}

type evaluation struct {
	replayInput
	strategies []string
	versus     string
	keep       string
	launches   []benchrunner.LaunchCost
	seconds    float64 // price of a launch
	opt        lab.Options
}

func (a *app) evaluateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "evaluate --data FILE",
		Short: "Compare strategies on recorded data",
		Long: `evaluate replays recorded data under strategies and compares their selections with
the complete data without noise. A replay ends when the criteria have held for three
evaluations running. The table compares the machine time of the strategy --versus with
that of the others: medians over the seeds, their ratios, and geometric means of the
ratios with 95 % intervals by resampling the seeds. Seeds that never converge count as
measuring everything. Under --launch every launch of a parallel program costs
--launch-seconds: one for each candidate, one for each layout and algorithm (osu), or one
for each layout (native). --keep appends each outcome to a file, and an interrupted run
continues from it. The file must hold outcomes of the same options.

With --model all strategies have that model and the same initial design as regret, and
the selection is compared that the library would get. --strategy also takes rivals as
they were published (fact, acclaim, iota, random-published: trees, their own initial
design, the choice predicted) and own-stop: regret until it stops by its own
predictions. A seed that stops before the criteria hold counts as never converged.

Results depend on data, flags and seeds alone, except for wall_seconds.`,
		Example: indent(
			"tutti-lab evaluate --data data/simgrid/C_bcast.csv --seeds 2",
			"tutti-lab evaluate --data a.csv,b.csv --strategy regret,fact,acclaim,iota --launch none,candidate,osu,native --keep o.jsonl"),
		Args: noArguments,
	}
	parse := evaluationFlags(cmd)
	a.formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		e, err := parse()
		if err != nil {
			return usageError(cmd, err)
		}
		sets, err := a.load(e.replayInput)
		if err != nil {
			return err
		}
		file, err := lab.OpenOutcomes(e.keep, e.opt, e.seconds)
		if err != nil {
			return err
		}
		design := lab.Design{Sets: sets, Strategies: e.strategies, Seeds: e.seedList()}
		outcomes, err := lab.Compare(cmd.Context(), design, e.launches, e.opt, file, func(o lab.Outcome) {
			fmt.Fprintf(a.stderr, "%s %s %s launch %s seed %d: %.1f s\n", o.Data, o.Collective, o.Strategy, o.Launch, o.Seed, o.WallSeconds)
		})
		if err != nil {
			return err
		}
		v, err := lab.NewVersus(e.versus, outcomes)
		if err != nil {
			return err
		}
		return a.show(v, v.WriteText)
	}
	return cmd
}

// evaluationFlags adds the flags of tutti-lab evaluate. It returns a function that reads their values.
func evaluationFlags(cmd *cobra.Command) func() (evaluation, error) {
	e := evaluation{opt: lab.DefaultOptions()}
	flags, o := cmd.Flags(), &e.opt
	e.addFlags(flags, 5)
	strategies := flags.String("strategy", strings.Join(lab.Strategies(), ","), "strategies, or "+strings.Join(lab.Contenders(), ", ")+", separated by commas")
	flags.StringSliceVar(&e.real, "real", nil, "more recorded `FILE`s, of real machines: tables sum them up separately")
	model := flags.String("model", "", "one model for all strategies: "+strings.Join(coll.Words(learner.Models()), ", ")+"; they also share the initial design")
	replayFlags(flags, o)
	flags.StringVar(&e.versus, "versus", "regret", "`strategy` that is compared with the others")
	flags.StringVar(&e.keep, "keep", "", "`FILE` of outcomes to continue from")
	launches := flags.String("launch", lab.LaunchNone, "what one launch measures: none (launches are free), candidate, osu or native, or several of them")
	flags.Float64Var(&e.seconds, "launch-seconds", 0.5, "price of one launch in seconds")
	scaling := flags.String("preprocess", string(o.Scaling), "output scaling")
	return func() (evaluation, error) {
		o.Scaling = preprocess.Scaling(*scaling)
		o.Model, o.Selected = learner.Model(*model), *model != ""
		if err := e.validate(); err != nil {
			return e, err
		}
		var err error
		if e.strategies, err = lab.ParseStrategies(*strategies); err != nil {
			return e, err
		}
		if e.launches, err = lab.ParseLaunches(*launches, e.seconds); err != nil {
			return e, err
		}
		o.Launch = e.launches[0]
		if !slices.Contains(e.strategies, e.versus) || len(e.strategies) == 1 {
			err = fmt.Errorf("--versus %s: want it and another one in --strategy %s", e.versus, *strategies)
		}
		return e, errors.Join(err, o.Validate())
	}
}

// replayFlags adds the flags of replays, which several commands share.
func replayFlags(flags *pflag.FlagSet, o *lab.Options) {
	flags.Float64Var(&o.Noise, "noise", o.Noise, "relative noise of the replayed times; recorded repetitions have their own")
	flags.Float64Var(&o.JobNoise, "job-noise", 0, "relative noise of all times of a round together, as of a disturbed job")
	flags.Float64Var(&o.Criteria.Slowdown, "slowdown", o.Criteria.Slowdown, "criterion: average slowdown below")
	flags.Float64Var(&o.Criteria.Mistakes, "mistakes", o.Criteria.Mistakes, "criterion: proportion of significant mistakes below")
	flags.IntVar(&o.Criteria.Patience, "patience", o.Criteria.Patience, "evaluations running that meet the criteria")
	flags.IntVar(&o.Batch.Candidates, "batch", o.Batch.Candidates, "candidates in a round at least")
	flags.Float64Var(&o.Batch.Growth, "growth", o.Batch.Growth, "share of the measured candidates in a round at least")
	flags.IntVar(&o.Trees, "trees", o.Trees, "trees of a forest")
	flags.IntVar(&o.Workers, "workers", o.Workers, "replays at the same time; does not change the results")
}
