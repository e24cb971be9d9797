package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tutti/benchrunner"
	"tutti/campaign/assembly"
	"tutti/campaign/pairs"
	"tutti/internal/config"
)

func (a *app) topologyDiscoverCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "discover -c FILE",
		Short: "Measure what a campaign's machine is made of",
		Long: `discover measures pairs of ranks with the scheduler, launcher and first library of a
campaign: those of each node, and one of each node with those of all others, until times
are known to 5 % or the time of a stage is used up. A job has as many nodes as the
largest layout of the grid and sees these alone: --jobs has several measured and merges
what they see. At last it measures the PLogP parameters of one pair of each class.

Into the folder topology of the campaign's output it writes topology.json, latency.csv
and bandwidth.csv (nodes), cores.csv and plogp.json. What was measured is kept: running
it again goes on, and measures what is missing.

The program is that of tutti native build; a campaign with another benchmark names it by
--program.`,
		Example: indent("tutti topology discover -c campaign.yaml --dry-run", "tutti topology discover -c campaign.yaml --jobs 4"),
		Args:    noArgs,
	}
	flags := cmd.Flags()
	file := flags.StringP("config", "c", "", "campaign `FILE` (required)")
	opt := discoverFlags(flags)
	dry := flags.Bool("dry-run", false, "print the jobs and what they cost; submit nothing")
	yes := flags.Bool("yes", false, "do not ask, whatever it may cost")
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		if *file == "" {
			return usageError(cmd, errors.New("-c FILE is missing"))
		}
		opt.Version, opt.Environ = version, a.environ
		if err := a.forecastDiscovery(cmd.Context(), *file, *opt, asked{*dry, *yes, *output}); err != nil || *dry {
			return err
		}
		return a.discover(cmd.Context(), *file, *opt, *output)
	}
	return cmd
}

// discoverFlags adds the flags that say how pairs are measured.
func discoverFlags(flags *pflag.FlagSet) *pairs.Options {
	opt := &pairs.Options{}
	flags.IntVar(&opt.Jobs, "jobs", 1, "jobs to measure in, each on nodes of its own where the scheduler has them")
	flags.IntVar(&opt.Nodes, "nodes", 0, "nodes of a job; those of the largest layout of the grid when not given")
	flags.StringVar(&opt.Program, "program", "", "`PATH` of the program that tutti native build made; the campaign's when not given")
	flags.IntVar(&opt.Bytes, "bytes", 1<<20, "size of the large message")
	flags.Float64Var(&opt.Precision, "precision", 0.05, "relative spread of a time that is enough")
	flags.Float64Var(&opt.Seconds, "seconds", 60, "most time of a stage: inside nodes, and between them")
	return opt
}

// loadMeasuring loads a campaign to be measured on.
func (a *app) loadMeasuring(file string) (*assembly.Campaign, error) {
	c, err := config.Load(file, config.Layers{Environ: a.environ})
	if err != nil {
		return nil, withCode(codeInput, err)
	}
	b, err := assembly.New(c)
	if err == nil {
		a.watchWaits(b)
	}
	return b, err
}

// asked says what becomes of a forecast.
type asked struct {
	dry, yes bool
	output   string
}

// forecastDiscovery prints what a discovery would submit, or asks where that is expected
// to cost more than the campaign allows unasked.
func (a *app) forecastDiscovery(ctx context.Context, file string, opt pairs.Options, how asked) error {
	c, err := a.loadMeasuring(file)
	if err != nil {
		return err
	}
	jobs, err := pairs.Forecast(ctx, c, opt)
	if err != nil {
		return err
	}
	switch {
	case how.dry:
		return a.tellForecast(jobs, how.output)
	case how.yes:
		return nil
	}
	return a.confirmPairs(jobs, c.Config.Runner.Confirm, "agree with --yes, or look with --dry-run")
}

// confirmPairs asks before jobs that are expected to take more node-hours than a campaign
// allows unasked.
func (a *app) confirmPairs(jobs []pairs.Planned, unasked float64, instead string) error {
	most, expected := costOf(jobs)
	return a.agree(fmt.Sprintf("pairs will take about %s node-hours, %s at most", hours(expected), hours(most)), expected, unasked, instead)
}

// costOf returns the node-hours of jobs, at most and as a rule.
func costOf(jobs []pairs.Planned) (most, expected float64) {
	for _, j := range jobs {
		most += j.NodeHours
		expected += j.Expected
	}
	return most, expected
}

func (a *app) tellForecast(jobs []pairs.Planned, output string) error {
	if output == "json" {
		return a.printJSON(jobs)
	}
	rows := make([]table.Row, len(jobs))
	for i, j := range jobs {
		rows[i] = table.Row{j.Name, j.Nodes, j.PPN, seconds(j.Limit), hours(j.Expected), hours(j.NodeHours)}
	}
	a.printTable(table.Row{"job", "nodes", "ppn", "limit", "node-hours", "at most"}, rows)
	most, expected := costOf(jobs)
	fmt.Fprintf(a.stdout, "pairs in %d jobs: about %s node-hours, %s at most; one more job measures a pair of each class\n", len(jobs), hours(expected), hours(most))
	return nil
}

// discover measures, writes and tells.
func (a *app) discover(ctx context.Context, file string, opt pairs.Options, output string) (err error) {
	c, err := a.loadMeasuring(file)
	if err != nil {
		return err
	}
	d, err := pairs.Open(c, opt)
	if err != nil {
		return withOutputCode(err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.Measure(ctx); err != nil {
		return a.tellUnmeasured(ctx, err)
	}
	found, err := d.Found()
	if err != nil {
		return err
	}
	if err := found.Write(d.Dir); err != nil {
		return withOutputCode(err)
	}
	a.warn(found.Warnings)
	s := shownTopology{Levels: found.Tree.Levels(), Gaps: found.Tree.Gaps, Conflicts: found.Conflicts}
	if output == "json" {
		s.Gaps, s.Conflicts = noneNil(s.Gaps), noneNil(s.Conflicts)
		return a.printJSON(s)
	}
	a.tellTopology(s)
	fmt.Fprintf(a.stdout, "%s and the pairs are in %s\n", pairs.TreeFile, nearPath(filepath.Clean(d.Dir)))
	return nil
}

// tellUnmeasured tells why measuring pairs ended, and that it can go on.
func (a *app) tellUnmeasured(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(a.stderr, "tutti: stopped; what was measured is kept. The same command goes on.")
		return errCancelled
	case errors.Is(err, pairs.ErrNothing):
		return withCode(codeNotReady, err)
	case errors.Is(err, benchrunner.ErrRejected):
		return err
	}
	return fmt.Errorf("%w\nwhat was measured is kept; the same command goes on", err)
}
