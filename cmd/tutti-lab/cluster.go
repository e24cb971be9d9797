package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tutti/internal/infile"
	"tutti/internal/lab/clustering"
	"tutti/report"
	"tutti/topology"
	"tutti/topology/discover"
	"tutti/topology/files"
)

func (a *app) clusterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster [PARAMETERS]",
		Short: "Compare clustering methods on the levels of machines",
		Long: `cluster draws matrices of round trips for the machines of a thesis (Reinfjell, Automatic
Detection of Interconnect Topologies, NTNU 2023) and divides them with eleven clustering
methods. Methods that need a parameter get the one that is best for the true groups. It
prints the share of the members in the right group at each level, the coarsest first.

With a file of PLogP parameters (plogp.json of tutti topology discover --plogp all), it
divides the measured ranks. The true groups are their nodes, or the levels of --tree.`,
		Example: indent("tutti-lab cluster", "tutti-lab cluster --plogp --members 64 --noise 0.3 --repetitions 8",
			"tutti-lab cluster results/c/topology/plogp.json --tree results/c/topology/topology.json"),
		Args: cobra.MaximumNArgs(1),
	}
	noise := clustering.DefaultNoise(0.05)
	flags := cmd.Flags()
	flags.Float64Var(&noise.Sigma, "noise", noise.Sigma, "relative noise of a measured time")
	flags.Float64Var(&noise.Outliers, "outliers", noise.Outliers, "share of the measured times that are 1.5 to 4 times as long")
	flags.IntVar(&noise.Repetitions, "repetitions", 1, "number of times whose mean is a distance")
	seed := flags.Uint64("seed", 1, "seed of the matrices")
	members := flags.Int("members", 256, "leave out machines with more members")
	plogp := flags.Bool("plogp", false, "also divide matrices of PLogP parameters, measured on simulated links")
	tree := flags.String("tree", "", "topology.json of the machine whose PARAMETERS were measured")
	bytes := flags.Int("bytes", 1, "message size of the distances of PARAMETERS")
	a.formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return a.clusterMeasured(cmd.Context(), args[0], *tree, *bytes)
		}
		if !(noise.Sigma >= 0) || !(noise.Outliers >= 0 && noise.Outliers <= 1) {
			return usageError(cmd, fmt.Errorf("--noise %g --outliers %g: want noise of 0 or more and a share of 0 to 1", noise.Sigma, noise.Outliers))
		}
		if noise.Repetitions < 1 {
			return usageError(cmd, fmt.Errorf("--repetitions %d: want 1 or more", noise.Repetitions))
		}
		var machines []clustering.Machine
		for _, m := range clustering.ThesisMachines() {
			if m.Members() <= *members {
				machines = append(machines, m)
			}
		}
		if len(machines) == 0 {
			return usageError(cmd, fmt.Errorf("--members %d: no machine is so small", *members))
		}
		rows, err := clustering.Compare(cmd.Context(), machines, noise, *plogp, *seed)
		if err != nil {
			return err
		}
		return a.show(rows, func(w io.Writer) error { return printClusters(w, rows) })
	}
	return cmd
}

// clusterMeasured compares the methods on the PLogP parameters in a file.
func (a *app) clusterMeasured(ctx context.Context, path, treePath string, bytes int) error {
	f, err := infile.Open(path, files.MaxBytes)
	if err != nil {
		return err
	}
	defer f.Close()
	parameters, err := discover.ReadParameters(f, path)
	if err != nil {
		return err
	}
	var tree *topology.Tree
	if treePath != "" {
		t, err := files.ReadFile(treePath, "")
		if err != nil {
			return err
		}
		tree = &t
	}
	rows, err := clustering.CompareMeasured(ctx, parameters, tree, bytes)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return a.show(rows, func(w io.Writer) error { return printClusters(w, rows) })
}

func printClusters(w io.Writer, rows []clustering.Row) error {
	t := report.NewTable(table.Row{"machine", "members", "input", "method", "accuracy"})
	for _, r := range rows {
		var levels []string
		for _, x := range r.Accuracy {
			levels = append(levels, fmt.Sprintf("%.3f", x))
		}
		t.AppendRow(table.Row{r.Machine, r.Members, r.Input, r.Method, strings.Join(levels, " ")})
	}
	_, err := fmt.Fprintln(w, t.Render())
	return err
}
