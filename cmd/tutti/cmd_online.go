package main

import "github.com/spf13/cobra"

func (a *app) onlineCommand() *cobra.Command {
	return verbs(&cobra.Command{
		Use:     "online",
		Short:   "Learning while applications run",
		Example: indent("tutti online update learned"),
	}, a.onlineUpdateCommand())
}
