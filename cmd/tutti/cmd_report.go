package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/journal"
	"tutti/report"
)

func (a *app) reportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report FOLDER",
		Short: "Write the report and the selection of a campaign from its journal",
		Long: `report trains the final models on what the journal holds and writes report.html,
report.json, curve.csv and the selection files into the folder of the campaign, as
they would be if measuring ended now. It works while the campaign runs, too. Where
nothing has been measured it says why and writes nothing.`,
		Example: indent("tutti report results/demo", "tutti report results/demo --output json"),
		Args:    oneFolder,
	}
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		c, results, contents, err := assembly.Reread(args[0])
		if err != nil {
			return err
		}
		a.warn(contents.Warnings)
		facts, err := writeResults(cmd.Context(), c, results, contents.State(), args[0])
		if errors.Is(err, export.ErrNothing) {
			return a.tellNothing(nothingOf(contents, again(c)), *output)
		}
		if err != nil {
			return err
		}
		if *output == "json" {
			return report.WriteJSON(a.stdout, facts)
		}
		fmt.Fprintln(a.stdout, filepath.Join(args[0], export.ReportHTML))
		return nil
	}
	return cmd
}

// writeResults trains the final models and writes every file of a campaign's folder but
// the journal.
func writeResults(ctx context.Context, c *assembly.Campaign, results []campaign.Result, state *journal.State, dir string) (report.Facts, error) {
	models, err := export.Train(ctx, c, results)
	if err != nil {
		return report.Facts{}, err
	}
	done, err := models.Conclude(state)
	if err != nil {
		return report.Facts{}, err
	}
	facts, err := done.Write(dir, program())
	return facts, withOutputCode(err)
}

// program is what the report says of this program.
func program() export.Program { return export.Program{Version: version, Versions: versions()} }
