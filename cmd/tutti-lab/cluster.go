package main

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tutti/internal/lab/clustering"
	"tutti/report"
)

func (a *app) clusterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Compare clustering methods on the levels of machines",
		Long: `cluster draws matrices of round trips for the machines of a thesis (Reinfjell, Automatic
Detection of Interconnect Topologies, NTNU 2023) and divides them with eleven clustering
methods. Methods that need a parameter get the one that is best for the true groups. It
prints the share of the members in the right group, at the level where it is lowest.`,
		Example: indent("tutti-lab cluster", "tutti-lab cluster --outliers 0 --plogp --members 64"),
		Args:    noArguments,
	}
	noise := clustering.DefaultNoise(0.05)
	flags := cmd.Flags()
	flags.Float64Var(&noise.Sigma, "noise", noise.Sigma, "relative noise of a distance")
	flags.Float64Var(&noise.Outliers, "outliers", noise.Outliers, "share of the distances that are 1.5 to 4 times as long")
	seed := flags.Uint64("seed", 1, "seed of the matrices")
	members := flags.Int("members", 256, "leave out machines with more members")
	plogp := flags.Bool("plogp", false, "also divide matrices of PLogP parameters, measured on simulated links")
	a.formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !(noise.Sigma >= 0) || !(noise.Outliers >= 0 && noise.Outliers <= 1) {
			return usageError(cmd, fmt.Errorf("--noise %g --outliers %g: want noise of 0 or more and a share of 0 to 1", noise.Sigma, noise.Outliers))
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

func printClusters(w io.Writer, rows []clustering.Row) error {
	t := report.NewTable(table.Row{"machine", "members", "input", "method", "accuracy"})
	for _, r := range rows {
		t.AppendRow(table.Row{r.Machine, r.Members, r.Input, r.Method, fmt.Sprintf("%.3f", r.Accuracy)})
	}
	_, err := fmt.Fprintln(w, t.Render())
	return err
}
