package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"tutti/internal/lab"
)

func (a *app) modelsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "models --data FILE",
		Short: "Compare models that learn from the same measurements",
		Long: `models replays campaigns on recorded data and trains each model on their first
measurements. It prints what the selections of the models lose, compared with the
complete data without noise: average slowdown minus one divided by 0.03, plus the
proportion of mistakes divided by 0.05.`,
		Example: indent("tutti-lab models --data data/simgrid/C_bcast.csv,data/simgrid/A_reduce.csv --seeds 3"),
		Args:    noArguments,
	}
	var from replayInput
	opt := lab.DefaultOptions()
	flags := cmd.Flags()
	from.addFlags(flags, 3)
	strategy := flags.String("strategy", "regret", "strategy of the campaigns")
	sizes := flags.IntSlice("sizes", []int{30, 60, 120, 240}, "measured candidates to learn from")
	flags.Float64Var(&opt.Noise, "noise", opt.Noise, "relative noise of the replayed times; recorded repetitions have their own")
	flags.IntVar(&opt.Workers, "workers", opt.Workers, "replays at the same time; does not change the results")
	a.formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		design := lab.Design{Strategies: []string{*strategy}, Seeds: from.seedList()}
		if err := errors.Join(from.validate(), oneStrategy(*strategy), lab.CheckSizes(*sizes), opt.Validate()); err != nil {
			return usageError(cmd, err)
		}
		var err error
		if design.Sets, err = a.load(from); err != nil {
			return err
		}
		losses, err := lab.CompareModels(cmd.Context(), design, *sizes, opt)
		if err != nil {
			return err
		}
		return a.show(losses, func(w io.Writer) error { return lab.WriteModels(w, losses) })
	}
	return cmd
}

// oneStrategy returns an error unless the name is that of a single strategy with its default stopping rule and
// model. Names of lab.Contenders stand for others.
func oneStrategy(name string) error {
	strategies, err := lab.ParseStrategies(name)
	if err == nil && (len(strategies) != 1 || slices.Contains(lab.Contenders(), name)) {
		err = fmt.Errorf("--strategy %s: want one strategy", name)
	}
	return err
}
