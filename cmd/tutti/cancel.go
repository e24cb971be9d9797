package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"tutti/campaign/assembly"
	"tutti/journal"
)

func cancelCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "cancel FOLDER",
		Short: "Cancel the jobs that an interrupted campaign left in the queue",
		Long: `cancel cancels the jobs of a campaign, or of its verification, that wait or run in the
queue. Their finished measurements are kept: tutti resume or tutti verify reads them.
A campaign that is being tuned or verified must be stopped first, with Ctrl-C.`,
		Example:           examples("tutti cancel results/night"),
		Args:              oneFolder,
		ValidArgsFunction: completeFolders,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			jnl, contents, err := journal.Open(args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, jnl.Close()) }()
			c, err := assembly.Restore(contents, args[0])
			if err != nil {
				return err
			}
			a.warn(contents.Warnings)
			state := contents.State()
			open := state.OpenJobs()
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
			again := resumeCommandOf(c)
			ofVerification := func(j *journal.Job) bool { return j.Open() && j.Problem.Collective == "" }
			if hasStopped(c, state) || slices.ContainsFunc(state.Jobs, ofVerification) {
				again = "tutti verify " + folderWord(c)
			}
			fmt.Fprintf(a.stdout, "%s cancelled; resume with: %s\n", plural(len(open), "job"), again)
			return nil
		},
	}
}

// openJobsNotice returns a sentence about the campaign's jobs that remain in the queue when tutti ends.
// It returns "" for campaigns without a queue.
func openJobsNotice(c *assembly.Campaign) string {
	if !c.Config.Runner.Facts().Queue() {
		return "" // jobs of other runners end with tutti
	}
	contents, err := journal.Read(c.Config.Output)
	if err != nil {
		return "" // the next command that reads the journal reports the error
	}
	n := len(contents.State().OpenJobs())
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %s left in the queue; tutti cancel %s cancels them.", plural(n, "job"), shellWord(displayPath(c.Config.Output)))
}
