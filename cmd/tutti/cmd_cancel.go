package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"tutti/campaign/assembly"
	"tutti/internal/config"
	"tutti/journal"
)

func (a *app) cancelCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel FOLDER",
		Short: "Cancel the jobs that an interrupted campaign left in the queue",
		Long: `cancel ends the jobs of a campaign that are in the queue or running. What they have
measured is kept: tutti resume reads it and goes on. A campaign that a tutti is at
work on is stopped first, with Ctrl-C.`,
		Example: indent("tutti cancel results/night"),
		Args:    oneFolder,
		RunE: func(cmd *cobra.Command, args []string) error {
			jnl, contents, err := journal.Open(args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, jnl.Close()) }()
			c, err := assembly.Recall(contents, args[0])
			if err != nil {
				return err
			}
			a.warn(contents.Warnings)
			open := contents.State().OpenJobs()
			if len(open) == 0 {
				fmt.Fprintln(a.stdout, "no jobs in the queue")
				return nil
			}
			a.watchWaits(c)
			if err := c.Connect(contents.Header.ID, a.environ); err != nil {
				return err
			}
			if err := c.Cancel(cmd.Context(), open); err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "%d jobs cancelled; go on with: %s\n", len(open), again(c))
			return nil
		},
	}
}

// leftInQueue tells how many jobs go on without tutti; "" for none.
func leftInQueue(c *assembly.Campaign) string {
	if c.Config.Runner.Kind != config.SlurmJobs {
		return "" // others end with it
	}
	contents, err := journal.Read(c.Config.Output)
	if err != nil {
		return "" // what reads the journal next says what is wrong with it
	}
	n := len(contents.State().OpenJobs())
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" Jobs that stay in the queue: %d; tutti cancel %s ends them.", n, shellWord(nearPath(c.Config.Output)))
}
