package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tutti/internal/lab"
)

func (a *app) harmCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "harm -c FILE",
		Short: "At how many points a campaign's selection is slower than the library's default",
		Long: `harm runs the campaign of a file on recorded data for several seeds, and compares its
selections with the library's default by the recorded times: the one that is predicted
after learning (unguarded), what the guard keeps of it (guarded), and that of the files
after confirmation (confirmed). Counts are means over the seeds, with the largest in
parentheses. Gain is the mean logarithm of the speed-up over the default, with the
smallest of the seeds in parentheses. --off-grid also compares them at the points of
other files. No file is written, and no hyperparameter study is made.`,
		Example: indent(
			"tutti-lab harm -c configs/demo.yaml --seeds 2",
			"tutti-lab harm -c configs/demo.yaml --set runner.noise=0.1 --off-grid data/simgrid/A_bcast_np2.csv"),
		Args: noArguments,
	}
	var opt lab.HarmOptions
	var first uint64
	var seeds int
	flags := cmd.Flags()
	flags.StringVarP(&opt.File, "config", "c", "", "campaign `FILE` on recorded data with defaults (required)")
	flags.StringArrayVar(&opt.Set, "set", nil, "override a key of the campaign file: `KEY=VALUE`, repeatable")
	flags.StringSliceVar(&opt.OffGrid, "off-grid", nil, "recorded `FILE`s with other points")
	flags.IntVar(&seeds, "seeds", 10, "number of seeds")
	flags.Uint64Var(&first, "first-seed", 1, "first of the seeds")
	a.formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if opt.File == "" || seeds < 1 {
			return usageError(cmd, fmt.Errorf("want -c FILE and at least one seed"))
		}
		opt.Seeds = lab.Seeds(first, seeds)
		all, err := lab.MeasureHarm(cmd.Context(), opt, func(of []lab.Harm) { fmt.Fprintf(a.stderr, "seed %d\n", of[0].Seed) })
		if err != nil {
			return err
		}
		return a.show(all, func(w io.Writer) error { return lab.WriteHarm(w, all) })
	}
	return cmd
}
