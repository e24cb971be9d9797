package main

import "github.com/spf13/cobra"

func (a *app) onlineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "online",
		Short:   "Learning while applications run",
		Example: indent("tutti online update learned", "tutti online simulate --trace data/applications/mixed.csv --data data/simgrid/C_allreduce.csv --defaults data/simgrid/defaults.csv --recorded C"),
		Args:    noVerb("update or simulate"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.onlineSimulateCommand(), a.onlineUpdateCommand())
	return cmd
}
