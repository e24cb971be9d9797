package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/report"
)

func (a *app) tuneCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tune -c FILE",
		Short: "Run a tuning campaign and write the selection files",
		Long: `tune runs the campaign that a file describes: it chooses what to measure, measures,
learns, and stops when the criteria hold or a limit is reached. Into the output
folder it writes the journal as it goes, and at the end the report, the convergence
curve and the selection files.

--from starts from what an earlier campaign measured, of the same machine on another
day, of another release or of another machine. It is kept in the new journal. What
the new measurements contradict is measured again; the report shows what changed.

Before a campaign that measures, tune looks whether its benchmarks, their libraries and
its launchers are here, and says what is missing; --unchecked begins all the same.

Keys of the file can be overridden by variables (TUTTI_STOP_SLOWDOWN=1.02) and above
them by flags.`,
		Example: indent(
			"tutti tune -c configs/demo.yaml",
			"tutti tune -c night.yaml --seed 7 --machine-time 2h",
			"tutti tune -c night.yaml --set stop.patience=5",
			"tutti tune -c night.yaml --results results/tuesday --from results/monday"),
		Args: noArgs,
	}
	flags := cmd.Flags()
	file := flags.StringP("config", "c", "", "campaign `FILE` (required; tutti init writes one)")
	set := flags.StringArray("set", nil, "`KEY=VALUE` for any key of the campaign file")
	from := flags.StringArray("from", nil, "`FOLDER` of an earlier campaign to start from: what still holds is not measured again (repeatable)")
	dry := flags.Bool("dry-run", false, "print the jobs of the first round and what they cost; submit nothing")
	scripts := flags.Bool("scripts", false, "with --dry-run: print the commands and scripts of the jobs, too")
	yes := flags.Bool("yes", false, "do not ask, whatever the campaign may cost")
	unchecked := flags.Bool("unchecked", false, "begin whatever the machine seems to lack")
	output := outputFlag(cmd)
	bound := bindFlags(flags)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *file == "" {
			return usageError(cmd, errors.New("-c FILE is missing"))
		}
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		if err := fromHere(cmd.Flags().Lookup("results")); err != nil {
			return err
		}
		c, err := config.Load(*file, config.Layers{Environ: a.environ, Flags: bound, Set: *set})
		if err != nil {
			return withCode(codeInput, err)
		}
		if c.From, err = assembly.Earlier(*from); err != nil {
			return fmt.Errorf("--from: %w", err)
		}
		if *dry {
			return a.dryTune(cmd, c, *scripts, *output)
		}
		if err := a.glance(cmd.Context(), c); err != nil && !*unchecked {
			return err
		}
		return a.tune(cmd.Context(), c, *yes, *output)
	}
	return cmd
}

// bindFlags adds the flags that override a key of the campaign file.
func bindFlags(flags *pflag.FlagSet) map[string]*pflag.Flag {
	flags.Uint64("seed", 0, "overrides seed")
	flags.String("results", "", "overrides output, the `FOLDER` of the campaign; relative to the working directory")
	flags.String("strategy", "", "overrides strategy.name")
	flags.Duration("machine-time", 0, "overrides stop.machine_time")
	flags.Duration("wall-time", 0, "overrides stop.wall_time")
	return map[string]*pflag.Flag{
		"seed":              flags.Lookup("seed"),
		"output":            flags.Lookup("results"),
		"strategy.name":     flags.Lookup("strategy"),
		"stop.machine_time": flags.Lookup("machine-time"),
		"stop.wall_time":    flags.Lookup("wall-time"),
	}
}

// fromHere makes a folder given as a flag relative to the working directory, as
// in any shell; paths in the file are relative to the file.
func fromHere(flag *pflag.Flag) error {
	dir := flag.Value.String()
	if !flag.Changed || dir == "" {
		return nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	return flag.Value.Set(dir)
}

// nearPath is how people see a path: relative to the working directory when it is
// below.
func nearPath(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if near, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(near) {
		return near
	}
	return path
}

// dryTune tells what a campaign that measures would submit first.
func (a *app) dryTune(cmd *cobra.Command, c *config.Campaign, scripts bool, output string) error {
	if !c.Runner.Live() {
		return usageError(cmd, fmt.Errorf("--dry-run: runner.kind %s submits nothing", c.Runner.Kind))
	}
	b, err := assembly.New(c)
	if err != nil {
		return err
	}
	a.watchWaits(b)
	if err := b.Connect("dry-run", a.environ); err != nil {
		return err
	}
	d, err := b.Forecast(cmd.Context())
	if err != nil {
		return err
	}
	return a.tellDryRun(d, scripts, output)
}

// tune starts a new campaign.
func (a *app) tune(ctx context.Context, c *config.Campaign, yes bool, output string) error {
	b, err := assembly.New(c)
	if err != nil {
		return err
	}
	id := journal.NewID()
	a.watchWaits(b)
	if err := b.Connect(id, a.environ); err != nil {
		return err
	}
	if err := a.confirm(ctx, b, yes); err != nil {
		return err
	}
	spec, err := json.Marshal(c)
	if err != nil {
		return err
	}
	jnl, err := journal.Create(c.Output, journal.Header{ID: id, Campaign: c.Name, Version: version, Seed: c.Seed, Spec: spec})
	if errors.Is(err, journal.ErrExists) {
		return fmt.Errorf("%w: go on with `tutti resume %s`, or choose another folder", err, shellWord(nearPath(c.Output)))
	}
	if err != nil {
		return withOutputCode(err)
	}
	return a.runAndFinish(ctx, session{b, &journal.State{}, jnl, again(b), output})
}

func (a *app) resumeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resume FOLDER",
		Short: "Go on with an interrupted campaign",
		Long: `resume goes on where the journal of a campaign ends, and ends with the same files as a campaign that was never interrupted.
It asks nothing: what a campaign may cost was agreed to when it was begun.`,
		Example: indent("tutti resume results/demo"),
		Args:    oneFolder,
	}
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		jnl, contents, err := journal.Open(args[0])
		if err != nil {
			return err
		}
		c, err := assembly.Recall(contents, args[0])
		if err == nil {
			a.watchWaits(c)
			err = c.Connect(contents.Header.ID, a.environ)
		}
		if err == nil {
			err = jnl.Append(journal.Record{Kind: journal.KindResume})
		}
		if err != nil {
			return errors.Join(err, jnl.Close())
		}
		a.warn(contents.Warnings)
		return a.runAndFinish(cmd.Context(), session{c, contents.State(), jnl, again(c), *output})
	}
	return cmd
}

// again is the command that goes on with a campaign.
func again(c *assembly.Campaign) string { return "tutti resume " + folderWord(c) }

// folderWord is the folder of a campaign as a word of a command.
func folderWord(c *assembly.Campaign) string { return shellWord(nearPath(c.Config.Output)) }

// session is a campaign at work.
type session struct {
	campaign *assembly.Campaign
	past     *journal.State // what the journal knows
	journal  *journal.Journal
	goOn     string // the command that goes on when it is interrupted
	output   string // text or json
}

// runAndFinish tunes every problem, writes the results and tells how it ended. It
// closes the journal.
func (a *app) runAndFinish(ctx context.Context, s session) (err error) {
	defer func() { err = errors.Join(err, s.journal.Close()) }()
	c := s.campaign
	results, facts, err := a.runAndWrite(ctx, s)
	switch {
	case err != nil && ctx.Err() != nil:
		fmt.Fprintf(a.stderr, "tutti: stopped; everything measured is in the journal.%s Go on with:\n  %s\n", leftInQueue(c), s.goOn)
		return errCancelled
	case errors.Is(err, campaign.ErrLog):
		return fmt.Errorf("journal of %s: %w", c.Config.Output, err)
	case errors.Is(err, export.ErrNothing):
		return err
	case errors.Is(err, benchrunner.ErrRejected):
		return withdraw(ctx, s, err)
	case errors.Is(err, benchrunner.ErrNoStart):
		return fmt.Errorf("%w\nno attempt was counted; mend it, then go on with: %s", err, s.goOn)
	case err != nil:
		return fmt.Errorf("%w\nwhat was measured is kept; go on with: %s", err, s.goOn)
	}
	if err := a.tell(facts, s.output, nearPath(c.Config.Output)); err != nil {
		return err
	}
	for _, r := range results {
		if !r.Stop.Good() {
			return errNotConverged
		}
	}
	return nil
}

// withdraw says why the machine takes no job of a campaign. When none was ever begun,
// nothing is left behind: the file is corrected and tune begins anew.
func withdraw(ctx context.Context, s session, cause error) error {
	gone, err := s.campaign.Withdraw(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("%w\n%w\ngo on with: %s", cause, err, s.goOn)
	case !gone:
		return fmt.Errorf("%w\nwhat was measured is kept; go on with: %s", cause, s.goOn)
	}
	return cause
}

func (a *app) runAndWrite(ctx context.Context, s session) ([]campaign.Result, report.Facts, error) {
	show := newProgress(a.stderr, a.environ, s.campaign)
	a.waits.showOn(show.line)
	results, err := s.campaign.Run(ctx, s.past, s.journal, show.observe)
	show.stop()
	a.waits.showOn(a.showLine)
	if err != nil {
		return nil, report.Facts{}, err
	}
	out := s.campaign.Config.Output
	contents, err := journal.Read(out)
	if err != nil {
		return nil, report.Facts{}, err
	}
	facts, err := writeResults(ctx, s.campaign, results, contents.State(), out)
	return results, facts, err
}

// warn tells what reading a journal left out. It is no part of the report: the
// campaign measures it again.
func (a *app) warn(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(a.stderr, "warning:", w)
	}
}

// tell prints the summary, or the facts for a script.
func (a *app) tell(f report.Facts, output, dir string) error {
	if output == "json" {
		return report.WriteJSON(a.stdout, f)
	}
	for _, write := range []func(io.Writer, report.Facts) error{report.WriteSummary, report.WriteVerification, report.WriteMachineTime} {
		if err := write(a.stdout, f); err != nil {
			return err
		}
	}
	for _, w := range f.Warnings {
		fmt.Fprintln(a.stdout, "warning:", w)
	}
	for _, p := range f.Problems {
		if n := len(p.Warnings); n > 0 {
			more := ""
			if n > 1 {
				more = fmt.Sprintf(" (and %d more in the report)", n-1)
			}
			fmt.Fprintf(a.stdout, "warning: %s %s: %s%s\n", p.Library, p.Collective, p.Warnings[0], more)
		}
		if !activelearn.StopReason(p.Stop).Good() {
			fmt.Fprintf(a.stdout, "not converged: %s %s stopped: %s\n", p.Library, p.Collective, p.Stop)
		}
	}
	if names := f.Unverified(); names != "" {
		fmt.Fprintf(a.stdout, "not verified: %s; hold the files against the default on the machine: tutti verify %s\n", names, shellWord(dir))
	}
	_, err := fmt.Fprintf(a.stdout, "results in %s: %s\n", dir, strings.Join(mainFiles(f), ", "))
	return err
}

// mainFiles names what a user looks at first; the files of single layouts are
// many and counted only.
func mainFiles(f report.Facts) []string {
	names := []string{export.ReportHTML, export.ReportJSON, export.CurveCSV, export.SelectionCSV}
	for _, lib := range f.Libraries {
		layouts := 0
		for _, name := range lib.Files {
			if filepath.Base(name) != name {
				layouts++
				continue
			}
			names = append(names, name)
		}
		if layouts > 0 {
			names = append(names, fmt.Sprintf("%d files for single layouts", layouts))
		}
	}
	return names
}
