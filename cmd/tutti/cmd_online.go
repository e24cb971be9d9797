package main

import "github.com/spf13/cobra"

func (a *app) onlineCommand() *cobra.Command {
	return verbs(&cobra.Command{
		Use:     "online",
		Short:   "Learning while applications run",
		Example: indent("tutti online update learned", "tutti online simulate --trace data/applications/mixed.csv --data data/simgrid/C_allreduce.csv --defaults data/simgrid/defaults.csv --recorded C"),
	}, a.onlineSimulateCommand(), a.onlineUpdateCommand())
}
