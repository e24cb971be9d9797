package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"tutti/campaign/assembly"
	"tutti/journal"
)

func (a *app) hpoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hpo FOLDER",
		Short: "Tune the forests of a finished campaign further",
		Long: `hpo goes on with the hyperparameter study of each problem of a campaign, on the
measurements the journal holds, until it has the given number of trials in all. Its
trials join the journal, and the results are written anew.`,
		Example: indent("tutti hpo results/demo --trials 100"),
		Args:    oneFolder,
	}
	trials := cmd.Flags().Int("trials", 100, "trials of each study in all, those made before included")
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		if *trials < 1 {
			return usageError(cmd, fmt.Errorf("--trials %d: want 1 or more", *trials))
		}
		jnl, contents, err := journal.Open(args[0])
		if err != nil {
			return err
		}
		c, err := assembly.Recall(contents, args[0])
		if err == nil {
			err = everyProblemStopped(c, contents.State())
		}
		if err != nil {
			return errors.Join(err, jnl.Close())
		}
		c.Spec.HPO = *trials
		goOn := fmt.Sprintf("tutti hpo %s --trials %d", folderWord(c), *trials)
		a.warn(contents.Warnings)
		return a.runAndFinish(cmd.Context(), session{c, contents.State(), jnl, goOn, *output})
	}
	return cmd
}

// everyProblemStopped refuses a study on measurements that are still to come.
func everyProblemStopped(c *assembly.Campaign, state *journal.State) error {
	for _, p := range c.Problems {
		if past := state.Problem(p.Problem); past == nil || past.Stop == "" {
			return withCode(codeInput, fmt.Errorf("%s has not stopped measuring; go on with: %s", p.Problem, again(c)))
		}
	}
	return nil
}
