package main

import "github.com/spf13/cobra"

func (a *app) onlineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "online",
		Short:   "Learning while applications run: policies compared on recorded data",
		Example: indent("tutti online simulate --trace data/applications/mixed.csv --data data/simgrid/C_allreduce.csv --defaults data/simgrid/defaults.csv --recorded C"),
		Args:    noVerb("simulate"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.onlineSimulateCommand())
	return cmd
}
