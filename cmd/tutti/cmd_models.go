package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tutti/internal/lab"
	"tutti/surrogate/learner"
)

// modelsCommand is tutti evaluate models.
func (a *app) modelsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "models --data FILE",
		Short: "What each model loses after the same measurements",
		Long: `models replays campaigns on recorded data and trains each model on their first
measurements. It tells what the models' choices lose by the complete data without
noise: average slowdown less one over 0.03 and the proportion of mistakes over
0.05, added up.`,
		Example: indent("tutti evaluate models --data data/simgrid/C_bcast.csv,data/simgrid/A_reduce.csv --seeds 3"),
		Args:    noArgs,
	}
	opt := lab.DefaultOptions()
	opt.ToShare = 0
	flags := cmd.Flags()
	data := flags.StringSlice("data", nil, "recorded `FILE`s, repeated or separated by commas (required)")
	strategy := flags.String("strategy", "regret", "strategy of the campaigns")
	sizes := flags.IntSlice("sizes", []int{30, 60, 120, 240}, "measured candidates to learn from")
	flags.Float64Var(&opt.Noise, "noise", opt.Noise, "relative noise of the replayed times; recorded repetitions have their own")
	seeds := flags.Int("seeds", 3, "number of seeds")
	first := flags.Uint64("first-seed", 1, "first of the seeds")
	flags.IntVar(&opt.Workers, "workers", opt.Workers, "replays side by side; does not change the results")
	prior := priorFlags(flags)
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if len(*data) == 0 {
			return usageError(cmd, errors.New("--data FILE is missing"))
		}
		if *seeds < 1 {
			return usageError(cmd, fmt.Errorf("--seeds %d: want 1 or more", *seeds))
		}
		opt.Prior = prior()
		design := lab.ModelDesign{Strategy: *strategy, Seeds: lab.Seeds(*first, *seeds), Sizes: *sizes}
		if err := errors.Join(oneStrategy(*strategy), design.Validate(), opt.Validate()); err != nil {
			return usageError(cmd, err)
		}
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		var warnings []string
		var err error
		if design.Sets, warnings, err = lab.Load(*data); err != nil {
			return withCode(codeInput, err)
		}
		a.warn(warnings)
		losses, err := lab.CompareModels(cmd.Context(), design, opt)
		if err != nil {
			return err
		}
		if *output == "json" {
			return json.NewEncoder(a.stdout).Encode(losses)
		}
		return lab.WriteModels(a.stdout, losses)
	}
	return cmd
}

// oneStrategy refuses what is not the name of one strategy, without contenders.
func oneStrategy(name string) error {
	strategies, err := lab.ParseStrategies(name)
	if err == nil && (len(strategies) != 1 || slices.Contains(lab.Contenders(), name)) {
		err = fmt.Errorf("--strategy %s: want one strategy", name)
	}
	return err
}

// priorFlags adds the hidden flags of learner.Prior, for studies of the method; what it returns
// reads them, nil for the default.
func priorFlags(flags *pflag.FlagSet) func() *learner.Prior {
	prior := learner.DefaultPrior()
	flags.Float64Var(&prior.Lengths, "lengths", prior.Lengths, "factor of all length scales that a Gaussian process begins with")
	flags.Float64Var(&prior.Steps, "steps", prior.Steps, "part of an algorithm's own variance that goes by steps")
	flags.Float64Var(&prior.Split, "split", prior.Split, "part of it that each message size has of its own")
	_, _, _ = flags.MarkHidden("lengths"), flags.MarkHidden("steps"), flags.MarkHidden("split")
	return func() *learner.Prior {
		if prior == learner.DefaultPrior() {
			return nil
		}
		return &prior
	}
}
