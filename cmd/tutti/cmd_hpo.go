package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"tutti/store"
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
		journal, contents, err := store.Open(args[0])
		if err != nil {
			return err
		}
		b, err := recallSpec(contents, args[0])
		if err == nil {
			err = everyProblemStopped(b, contents.State())
		}
		if err != nil {
			return errors.Join(err, journal.Close())
		}
		b.spec.HPO = *trials
		b.again = fmt.Sprintf("tutti hpo %s --trials %d", shellWord(nearPath(b.config.Output)), *trials)
		a.warn(contents.Warnings)
		return a.runAndFinish(cmd.Context(), b, contents.State(), journal, *output)
	}
	return cmd
}

// everyProblemStopped refuses a study on measurements that are still to come.
func everyProblemStopped(b *built, state *store.State) error {
	for _, p := range b.problems {
		if past := state.Problem(p.Problem); past == nil || past.Stop == "" {
			return withCode(codeInput, fmt.Errorf("%s has not stopped measuring; go on with: %s", p.Problem, b.again))
		}
	}
	return nil
}
