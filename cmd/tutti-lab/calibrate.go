package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"tutti/internal/lab"
)

func (a *app) calibrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "calibrate --data FILE",
		Short: "How often campaigns stop correctly by their own predictions",
		Long: `calibrate replays recorded data with campaigns that stop by their own predictions, and
compares each prediction with the truth. It prints how often the truth met the criteria
at the stop. It also prints the machine time until the stop relative to two others: until
the truth first met the criteria (first), and until it had met them for three evaluations
running (converged). Parentheses have 95 % intervals over the replays.

--keep appends each replay to a file when it ends. Replays in the file are not repeated
and are part of the table. The file must hold replays of the same options.`,
		Example: indent(
			"tutti-lab calibrate --data data/simgrid/C_bcast.csv --seeds 3",
			"tutti-lab calibrate --data a.csv,b.csv --noise 0.01,0.02,0.05 --tail 0,0.02 --keep c.jsonl"),
		Args: noArguments,
	}
	var from replayInput
	opt := lab.DefaultOptions()
	flags := cmd.Flags()
	from.addFlags(flags, 3)
	strategy := flags.String("strategy", "regret", "strategy of the campaigns")
	noise := flags.Float64Slice("noise", []float64{opt.Noise}, "relative noise of the replayed times, or several; recorded repetitions have their own")
	flags.Float64Var(&opt.JobNoise, "job-noise", 0, "relative noise of all times of a round together, as of a disturbed job")
	tail := flags.Float64Slice("tail", []float64{0}, "probability of an outlier, or several")
	launch := launchFlags(flags, &opt.Launch)
	flags.IntVar(&opt.Workers, "workers", opt.Workers, "replays at the same time; does not change the results")
	keep := flags.String("keep", "", "`FILE` of replays to continue from")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		design := lab.Design{Strategies: []string{*strategy}, Seeds: from.seedList()}
		err := cmp.Or(from.validate(), oneStrategy(*strategy), launch())
		for _, opt.Noise = range *noise {
			for _, opt.Tail = range *tail {
				err = cmp.Or(err, opt.Validate())
			}
		}
		if err != nil {
			return usageError(cmd, err)
		}
		if design.Sets, err = a.load(from); err != nil {
			return err
		}
		file, err := lab.OpenCalibrations(*keep, opt, opt.Launch.Seconds)
		if err != nil {
			return err
		}
		all, err := lab.Calibrations(cmd.Context(), design, *noise, *tail, opt, file, func(c lab.Calibration) {
			fmt.Fprintf(a.stderr, "%s noise %g tail %g seed %d: %.1f s\n", c.Data, c.Noise, c.Tail, c.Seed, c.WallSeconds)
		})
		if err != nil {
			return err
		}
		return lab.WriteCalibration(a.stdout, all)
	}
	return cmd
}
