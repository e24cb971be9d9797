package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tutti/benchrunner"
	"tutti/internal/lab"
	"tutti/metrics"
)

// calibrateCommand is tutti evaluate calibrate.
func (a *app) calibrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "calibrate --data FILE",
		Short: "How often campaigns that stop by their own predictions are right",
		Long: `calibrate replays recorded data judged by predictions (stop.judge: predicted) and
looks at the truth at the same time. It tells how often the truth met the criteria
where the predictions said so, and what was spent beside the first moment at which
it was true, and the moment at which it had been true for as long as asked.

--keep writes each replay into a file as it ends; what the file holds is not replayed
again and is part of the table. A FILE of anything else, or of other options, is left
as it is.`,
		Example: indent(
			"tutti evaluate calibrate --data data/simgrid/C_bcast.csv --seeds 3",
			"tutti evaluate calibrate --data a.csv,b.csv --noise 0.01,0.02,0.05 --tail 0,0.02 --keep c.jsonl"),
		Args: noArgs,
	}
	opt := lab.DefaultOptions()
	flags := cmd.Flags()
	data := flags.StringSlice("data", nil, "recorded `FILE`s, repeated or separated by commas (required)")
	strategy := flags.String("strategy", "regret", "strategy of the campaigns")
	noise := flags.Float64Slice("noise", []float64{opt.Noise}, "relative noise of the replayed times, or several; recorded repetitions have their own")
	flags.Float64Var(&opt.JobNoise, "job-noise", 0, "relative noise of all times of a round together, as of a disturbed job")
	tail := flags.Float64Slice("tail", []float64{0}, "probability of an outlier, or several")
	seeds := flags.Int("seeds", 3, "number of seeds")
	first := flags.Uint64("first-seed", 1, "first of the seeds")
	launch := flags.String("launch", lab.LaunchNone, "what one launch measures: none (launches are free), candidate, osu or native")
	seconds := flags.Float64("launch-seconds", 0.5, "price of one launch in seconds")
	flags.IntVar(&opt.Workers, "workers", opt.Workers, "replays side by side; does not change the results")
	keep := flags.String("keep", "", "`FILE` of replays, to go on from")
	prior := priorFlags(flags)
	borneFlags(flags, &opt.Borne)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if len(*data) == 0 {
			return usageError(cmd, errors.New("--data FILE is missing"))
		}
		if *seeds < 1 {
			return usageError(cmd, fmt.Errorf("--seeds %d: want 1 or more", *seeds))
		}
		err := oneStrategy(*strategy)
		var launches []benchrunner.Launch
		if err == nil {
			launches, err = lab.ParseLaunches(*launch, *seconds)
		}
		if err == nil && len(launches) != 1 {
			err = fmt.Errorf("--launch %s: want one", *launch)
		}
		if err != nil {
			return usageError(cmd, err)
		}
		opt.Launch, opt.Prior = launches[0], prior()
		design := lab.CalibrationDesign{Strategy: *strategy, Seeds: lab.Seeds(*first, *seeds), Noise: *noise, Tail: *tail}
		if err := design.Validate(opt); err != nil {
			return usageError(cmd, err)
		}
		var warnings []string
		if design.Sets, warnings, err = lab.Load(*data); err != nil {
			return withCode(codeInput, err)
		}
		a.warn(warnings)
		return a.calibrate(cmd, design, opt, *keep)
	}
	return cmd
}

// borneFlags adds flags for studies of the method, which help does not show.
func borneFlags(flags *pflag.FlagSet, rule *metrics.BorneRule) {
	*rule = metrics.DefaultBorneRule()
	flags.Float64Var(&rule.Memory, "borne-memory", rule.Memory, "expected mistakes that are remembered")
	flags.Float64Var(&rule.Level, "borne-level", rule.Level, "probability that the factor of what was borne out is below its upper end")
	_, _ = flags.MarkHidden("borne-memory"), flags.MarkHidden("borne-level")
}

// calibrate replays the design and prints the table.
func (a *app) calibrate(cmd *cobra.Command, design lab.CalibrationDesign, opt lab.Options, keep string) error {
	emit := func(c lab.Calibration) error {
		fmt.Fprintf(a.stderr, "%s noise %g tail %g seed %d: %.1f s\n", c.Data, c.Noise, c.Tail, c.Seed, c.WallSeconds)
		return nil
	}
	if keep != "" {
		kept, err := lab.KeepCalibrations(keep, opt, opt.Launch.Seconds)
		if err != nil {
			return withOutputCode(withCode(codeInput, err))
		}
		defer kept.Close() // every line is written at once
		design.Known = kept.Known
		tell := emit
		emit = func(c lab.Calibration) error {
			if err := kept.Add(c); err != nil {
				return withOutputCode(err)
			}
			return tell(c)
		}
	}
	all, err := lab.Calibrations(cmd.Context(), design, opt, emit)
	if err != nil {
		return err
	}
	return lab.WriteCalibration(a.stdout, all)
}
