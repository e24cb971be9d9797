package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"tutti/campaign"
	"tutti/campaign/report"
	"tutti/store"
)

// reread builds the campaign of a folder and recalls its results from the journal.
func reread(dir string) (*built, []campaign.Result, *store.Contents, error) {
	contents, err := store.Read(dir)
	if err != nil {
		return nil, nil, nil, withCode(codeInput, err)
	}
	b, err := recallSpec(contents, dir)
	if err != nil {
		return nil, nil, nil, err
	}
	results, err := b.recall(contents.State(), dir)
	return b, results, contents, err
}

// recall returns the results that a folder's journal holds.
func (b *built) recall(state *store.State, dir string) ([]campaign.Result, error) {
	results := make([]campaign.Result, len(b.problems))
	for i, p := range b.problems {
		var err error
		if results[i], err = campaign.Recall(b.spec, p, state.Problem(p.Problem)); err != nil {
			return nil, withCode(codeInput, fmt.Errorf("journal of %s: %w", dir, err))
		}
	}
	return results, nil
}

func (a *app) reportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report FOLDER",
		Short: "Write the report and the selection of a campaign from its journal",
		Long: `report trains the final models on what the journal holds and writes report.html,
report.json, curve.csv and the selection files into the folder of the campaign, as
they would be if measuring ended now. It works while the campaign runs, too.`,
		Example: indent("tutti report results/demo", "tutti report results/demo --output json"),
		Args:    oneFolder,
	}
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		b, results, contents, err := reread(args[0])
		if err != nil {
			return err
		}
		a.warn(contents.Warnings)
		done, err := conclude(cmd.Context(), b, results, contents.State())
		if err != nil {
			return err
		}
		facts, err := done.writeAll(args[0])
		if err != nil {
			return withOutputCode(err)
		}
		if *output == "json" {
			return report.WriteJSON(a.stdout, facts)
		}
		fmt.Fprintln(a.stdout, filepath.Join(args[0], reportHTML))
		return nil
	}
	return cmd
}
