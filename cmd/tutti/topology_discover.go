package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tutti/benchrunner"
	"tutti/campaign/assembly"
	"tutti/internal/config"
	"tutti/report"
	"tutti/topology/pairs"
)

type discoverOptions struct {
	*app
	pairs.Options
	file     string
	dry, yes bool
}

func topologyDiscoverCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "discover -c FILE",
		Short: "Measure the topology of a campaign's machine",
		Long: `discover measures pairs of ranks with the scheduler, the launcher and the first library
of a campaign: the pairs on each node, and those between a rank of each node and the
ranks of all other nodes. It measures until times are known to 5 % or the time of a
stage is used up. A job has as many nodes as the largest layout of the grid and
measures only these: --jobs runs several jobs and merges their results. Finally it
measures the PLogP parameters of one pair of each class, or of the pairs of ranks that
--plogp names: n1:n2 are the first ranks of two nodes, n1/0:n1/3 two ranks of one node,
all are all ranks. Pairs of different nodes are measured at the same time. Each round
takes up to half of --seconds.

It writes topology.json, latency.csv and bandwidth.csv (nodes), cores.csv and plogp.json
to the folder topology of the campaign's output. Measurements are kept: run it again to
resume, it then measures only what is missing.

The program is tutti-native (tutti build benchmark). Name it with --program if the
campaign uses another benchmark.`,
		Example: examples("tutti topology discover -c campaign.yaml --dry-run", "tutti topology discover -c campaign.yaml --jobs 4"),
		Args:    noArgs,
	}
	o := discoverOptions{app: a, Options: pairs.Defaults}
	flags := cmd.Flags()
	fileFlag(cmd, &o.file, "campaign `FILE` (required)")
	flags.IntVar(&o.Jobs, "jobs", o.Jobs, "number of jobs, each on other nodes if the scheduler has them")
	flags.IntVar(&o.Nodes, "nodes", 0, "nodes of a job; default: those of the largest layout of the grid")
	flags.StringVar(&o.Program, "program", "", "`PATH` of tutti-native; default: the benchmark of the campaign")
	flags.IntVar(&o.Bytes, "bytes", o.Bytes, "size of the large message")
	flags.Float64Var(&o.Precision, "precision", o.Precision, "sufficient relative spread of a time")
	flags.Float64Var(&o.Seconds, "seconds", o.Seconds, "time limit of each stage: inside nodes, and between nodes")
	flags.StringVar(&o.PLogP, "plogp", o.PLogP, "`PAIRS` of ranks whose PLogP parameters are measured: classes, all, or a list such as n1:n2,n1/0:n1/3")
	flags.IntVar(&o.Repetitions, "repetitions", o.Repetitions, "messages from whose median time a PLogP parameter is computed")
	flags.BoolVar(&o.dry, "dry-run", false, "print the jobs and their cost; submit nothing")
	flags.BoolVar(&o.yes, "yes", false, "do not ask for confirmation, whatever it costs")
	a.formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o.Version, o.Environ = version, a.environ
		c, err := loadMeasuring(a, o.file)
		if err != nil {
			return err
		}
		if err := o.forecast(cmd.Context(), c); err != nil || o.dry {
			return err
		}
		return o.run(cmd.Context(), c)
	}
	return cmd
}

// loadMeasuring loads a campaign file for a command that measures only pairs of nodes.
func loadMeasuring(a *app, file string) (*assembly.Campaign, error) {
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

// forecast prints the planned jobs if --dry-run is set. Otherwise it asks for confirmation if the expected
// cost of the jobs exceeds runner.confirm.
func (o *discoverOptions) forecast(ctx context.Context, c *assembly.Campaign) error {
	jobs, err := pairs.Forecast(ctx, c, o.Options)
	if err != nil {
		return err
	}
	switch {
	case o.dry:
		return o.show(jobs, func() { printPlanned(o.app, jobs) })
	case o.yes:
		return nil
	}
	return confirmPairs(o.app, jobs, c.Config.Runner.Confirm, "agree with --yes, or look with --dry-run")
}

func confirmPairs(a *app, jobs []assembly.PlannedJob, limit float64, instead string) error {
	most, expected := costOf(jobs)
	return confirmCost(a, fmt.Sprintf("pairs will take about %s node-hours, at most %s", report.FormatNodeHours(expected), report.FormatNodeHours(most)), expected, limit, instead)
}

func costOf(jobs []assembly.PlannedJob) (most, expected float64) {
	for _, j := range jobs {
		most += j.NodeHours
		expected += j.Expected
	}
	return most, expected
}

func printPlanned(a *app, jobs []assembly.PlannedJob) {
	rows := make([]table.Row, len(jobs))
	for i, j := range jobs {
		rows[i] = table.Row{j.Name, j.Nodes, j.PPN, report.FormatSeconds(j.Limit), report.FormatNodeHours(j.Expected), report.FormatNodeHours(j.NodeHours)}
	}
	a.printTable(table.Row{"job", "nodes", "ppn", "limit", "node-hours", "at most"}, rows)
	most, expected := costOf(jobs)
	a.printFit("pairs in %s: about %s node-hours, at most %s; one more job measures a pair of each class", plural(len(jobs), "job"), report.FormatNodeHours(expected), report.FormatNodeHours(most))
}

func (o *discoverOptions) run(ctx context.Context, c *assembly.Campaign) (err error) {
	d, err := pairs.Open(c, o.Options)
	if err != nil {
		return withOutputCode(err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.Measure(ctx); err != nil {
		return discoverError(ctx, o.app, err)
	}
	found, err := d.Found()
	if err != nil {
		return err
	}
	if err := found.Write(d.Dir); err != nil {
		return withOutputCode(err)
	}
	o.warn(found.Warnings)
	if err := showTopology(o.app, found.Tree, found.Conflicts); err != nil || o.format == formatJSON {
		return err
	}
	o.printFit("%s and the pairs are in %s", pairs.TreeFile, displayPath(filepath.Clean(d.Dir)))
	return nil
}

// discoverError adds to an error of the command `topology discover` how to resume, unless resuming cannot help.
func discoverError(ctx context.Context, a *app, err error) error {
	switch {
	case ctx.Err() != nil:
		a.printLine("tutti: stopped; the measurements are kept. Run the same command to resume.")
		return errCancelled
	case errors.Is(err, pairs.ErrNothing):
		return withCode(codeNotReady, err)
	case errors.Is(err, benchrunner.ErrRejected):
		return err
	}
	return fmt.Errorf("%w\nThe measurements are kept. Run the same command to resume", err)
}
