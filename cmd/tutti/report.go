package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/journal"
	"tutti/report"
)

func reportCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report FOLDER",
		Short: "Print the results of a campaign, write its report and files",
		Long: `report prints the results: a row for each problem, the points with the highest risk,
and for each library gain, risk, cost and the next command.

If there is no report or the journal has grown since, report first trains the final
models on the measurements in the journal. It writes report.html, report.json, curve.csv
and the selection files into the folder, as if measuring ended now. It works while the
campaign runs, too. If there are no measurements, it fails and says why.`,
		Example:           examples("tutti report results/demo", "tutti report results/demo --format json"),
		Args:              oneFolder,
		ValidArgsFunction: completeFolders,
	}
	a.formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return writeReport(cmd.Context(), a, args[0])
	}
	return cmd
}

func writeReport(ctx context.Context, a *app, folder string) error {
	if facts, ok := export.Stored(folder, version); ok {
		return a.show(facts, func() { printSummary(a, facts, displayPath(folder)) })
	}
	c, results, contents, err := assembly.RestoreAll(folder)
	if err != nil {
		return err
	}
	a.warn(contents.Warnings)
	facts, err := writeResults(ctx, a, c, results, contents.State(), folder)
	switch {
	case errors.Is(err, export.ErrNothing) && runsElsewhere(folder):
		return fmt.Errorf("%w\nThe campaign runs. Follow it with: tutti status %s", err, shellWord(displayPath(folder)))
	case errors.Is(err, export.ErrNothing):
		return fmt.Errorf("%w\n%sResume with: %s", err, noStartLines(contents.State()), resumeCommandOf(c))
	case err != nil:
		return err
	}
	return a.show(facts, func() { printSummary(a, facts, displayPath(folder)) })
}

// writeResults trains the final models and writes every file in the folder of a campaign
// except the journal.
func writeResults(ctx context.Context, a *app, c *assembly.Campaign, results []campaign.Result, state *journal.State, dir string) (report.Facts, error) {
	defer a.announce("training the final models, drawing the report and writing the files ...")()
	models, err := export.Train(ctx, c, results)
	if err != nil {
		return report.Facts{}, err
	}
	done, err := models.Conclude(state)
	if err != nil {
		return report.Facts{}, err
	}
	facts, err := done.Write(ctx, dir, export.Program{Version: version, Versions: versions()})
	return facts, withOutputCode(err)
}

// noStartLines returns a line for each job in which no benchmark started.
func noStartLines(state *journal.State) string {
	var b strings.Builder
	for _, j := range state.Jobs {
		if j.NoStartReason != "" {
			fmt.Fprintf(&b, "job %s: none of %d benchmarks started: %s\n", j.Name, len(j.Requests), j.NoStartReason)
		}
	}
	return b.String()
}
