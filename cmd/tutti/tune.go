package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"tutti/campaign/assembly"
	"tutti/internal/config"
	"tutti/journal"
)

type tuneOptions struct {
	*app
	file       string
	set        []string
	from       []string
	dry        bool
	scripts    bool
	yes        bool
	skipChecks bool
	out        string
}

func tuneCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tune -c FILE",
		Short: "Run a tuning campaign and write the selection files",
		Long: `tune runs the campaign that a file describes: it chooses what to measure, measures,
learns, and stops when the criteria hold or a limit is reached. During the campaign it
writes the journal into the output folder, at the end the report, the convergence
curve and the selection files.

--from starts with the measurements of an earlier campaign: of the same machine on
another day, of another release, or of another machine. It may be a CSV file, as tutti
import and tutti export write it. The new journal includes the measurements,
or those at a random part of the points if there are more than 50 000.
Forests start from the best hyperparameters of its study, instead of model.trees and so on.
What new measurements contradict is measured again; the report shows what changed.

Before a campaign measures, tune checks that its benchmarks, libraries and launchers
exist, and reports what is missing. --skip-checks starts without these checks.

Environment variables override keys of the file (TUTTI_STOP_SLOWDOWN=1.02), and --set
and --out override both.`,
		Example: examples(
			"tutti tune -c configs/demo.yaml",
			"tutti tune -c night.yaml --set seed=7 --set stop.machine_time=2h",
			"tutti tune -c night.yaml --out results/tuesday --from results/monday"),
		Args: noArgs,
	}
	o := tuneOptions{app: a}
	flags := cmd.Flags()
	fileFlag(cmd, &o.file, "campaign `FILE` (required; tutti init writes one)")
	flags.StringArrayVar(&o.set, "set", nil, "override a key of the campaign file: `KEY=VALUE`, repeatable")
	flags.StringArrayVar(&o.from, "from", nil, "start with the measurements of the campaign in `FOLDER`, or of a CSV file, repeatable")
	flags.BoolVar(&o.dry, "dry-run", false, "print the jobs of the first round and their cost; submit nothing")
	flags.BoolVar(&o.scripts, "scripts", false, "print the commands and scripts of these jobs, too (--dry-run)")
	flags.BoolVar(&o.yes, "yes", false, "do not ask for confirmation, whatever the campaign costs")
	flags.BoolVar(&o.skipChecks, "skip-checks", false, "start even if the preflight check fails")
	a.formatFlag(cmd)
	flags.StringVarP(&o.out, "out", "o", "", "override output, the `FOLDER` of the campaign; relative to the working directory")
	mustComplete(errors.Join(cmd.MarkFlagDirname("from"), cmd.MarkFlagDirname("out"), cmd.RegisterFlagCompletionFunc("set", completeSettings)))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return o.run(cmd) }
	return cmd
}

func (o *tuneOptions) run(cmd *cobra.Command) error {
	set := o.set
	if cmd.Flags().Changed("out") {
		out, err := filepath.Abs(o.out)
		if err != nil {
			return err
		}
		set = append(set, "output="+out)
	}
	c, err := config.Load(o.file, config.Layers{Environ: o.environ, Set: set})
	if err != nil {
		return withCode(codeInput, err)
	}
	if c.From, err = assembly.Earlier(o.from); err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	if err := addPaths(cmd.Context(), o.app, c); err != nil {
		return err
	}
	if o.dry {
		return o.dryRun(cmd, c)
	}
	if err := checkFolder(c.Output); err != nil {
		return err
	}
	if !o.skipChecks {
		if err := preflight(cmd.Context(), o.app, c); err != nil {
			return err
		}
	}
	return startCampaign(cmd.Context(), o.app, c, o.yes)
}

// displayPath returns a path as tutti prints it. A path below the working directory becomes relative. All other
// paths stay as they are.
func displayPath(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if near, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(near) {
		return near
	}
	return path
}

// dryRun prints the jobs that a campaign would submit first.
func (o *tuneOptions) dryRun(cmd *cobra.Command, c *config.Campaign) error {
	if !c.Runner.Live() {
		return usageError(cmd, fmt.Errorf("--dry-run: runner.kind %s submits nothing", c.Runner.Kind))
	}
	b, err := assembly.New(c)
	if err != nil {
		return err
	}
	o.watchWaits(b)
	if err := b.Connect("dry-run", o.environ); err != nil {
		return err
	}
	forecast, err := b.Forecast(cmd.Context())
	if err != nil {
		return err
	}
	a := o.app
	a.warn(slices.Concat(b.Warnings, b.HiddenSettings(o.environ), b.MeasuredCompletely()))
	return o.show(forecast, func() { printForecast(a, forecast, c.CollectiveShare(), o.scripts) })
}

// checkFolder checks that the folder has no campaign. Errors match journal.ErrLocked if a process runs one there, or
// journal.ErrExists.
func checkFolder(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, journal.FileName)); err != nil {
		return nil // other errors are those of Create
	}
	switch activity, process, err := journal.ActivityIn(dir); {
	case err != nil:
		return err
	case activity == journal.Running:
		return fmt.Errorf("%w: a campaign runs in %s: %s; see tutti status %s, or choose another folder", journal.ErrLocked, displayPath(dir), process, shellWord(displayPath(dir)))
	}
	return fmt.Errorf("%s: %w: resume it with tutti resume %s, or choose another folder", displayPath(dir), journal.ErrExists, shellWord(displayPath(dir)))
}

// startCampaign asks for confirmation if necessary, creates the journal, and runs a new campaign to its
// end.
func startCampaign(ctx context.Context, a *app, c *config.Campaign, yes bool) error {
	b, err := assembly.New(c)
	if err != nil {
		return err
	}
	id := journal.NewID()
	a.watchWaits(b)
	a.warnHost(c)
	if err := b.Connect(id, a.environ); err != nil {
		return err
	}
	a.warn(slices.Concat(b.Warnings, b.HiddenSettings(a.environ), b.MeasuredCompletely()))
	if err := confirmCampaign(ctx, a, b, yes); err != nil {
		return err
	}
	spec, err := json.Marshal(c)
	if err != nil {
		return err
	}
	jnl, err := journal.Create(c.Output, journal.Header{ID: id, Campaign: c.Name, Version: version, Seed: c.Seed, Spec: spec, Private: c.HasSecrets()})
	if errors.Is(err, journal.ErrExists) {
		return fmt.Errorf("%w: resume it with tutti resume %s, or choose another folder", err, shellWord(displayPath(c.Output)))
	}
	if err != nil {
		return withOutputCode(err)
	}
	contents, err := journal.Read(c.Output)
	if err != nil {
		return errors.Join(err, jnl.Close())
	}
	return runAndFinish(ctx, a, session{b, contents, jnl, resumeCommandOf(b)})
}
