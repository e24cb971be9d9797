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
	"tutti/coll"
	"tutti/journal"
	"tutti/report"
)

func reportCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report FOLDER",
		Short: "Write the report and the selection files of a campaign from its journal",
		Long: `report trains the final models on the measurements in the journal. It writes
report.html, report.json, curve.csv and the selection files into the folder of the
campaign, as if measuring ended now. It works while the campaign runs, too. If there
are no measurements, it says why and writes nothing.`,
		Example:           indent("tutti report results/demo", "tutti report results/demo --format json"),
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
	c, results, contents, err := assembly.Reread(folder)
	if err != nil {
		return err
	}
	a.warn(contents.Warnings)
	facts, err := writeResults(ctx, c, results, contents.State(), folder)
	switch {
	case errors.Is(err, export.ErrNothing):
		e, err := newEmptyResult(contents, resumeCommandOf(c))
		if err != nil {
			return err
		}
		return a.show(e, func() { printEmptyResult(a, e) })
	case err != nil:
		return err
	}
	return a.show(facts, func() { fmt.Fprintln(a.stdout, filepath.Join(folder, export.ReportHTML)) })
}

// writeResults trains the final models and writes every file in the folder of a campaign
// except the journal.
func writeResults(ctx context.Context, c *assembly.Campaign, results []campaign.Result, state *journal.State, dir string) (report.Facts, error) {
	models, err := export.Train(ctx, c, results)
	if err != nil {
		return report.Facts{}, err
	}
	done, err := models.Conclude(state)
	if err != nil {
		return report.Facts{}, err
	}
	facts, err := done.Write(ctx, dir, program())
	return facts, withOutputCode(err)
}

// program returns the versions of tutti, Go and the numeric modules, for reports.
func program() export.Program { return export.Program{Version: version, Versions: versions()} }

// emptyResult is the JSON output for a campaign without measurements. It says why there are none.
type emptyResult struct {
	Campaign   string      `json:"campaign"`
	Jobs       int         `json:"jobs"`
	FailedJobs []failedJob `json:"failed_jobs"` // jobs in which no benchmark started
	Failed     int         `json:"failed"`      // number of failed trials
	FirstError string      `json:"first_error"` // error of the first failed trial
	Resume     string      `json:"resume"`      // command line that resumes the campaign
}

type failedJob struct {
	Job        string `json:"job"`
	Benchmarks int    `json:"benchmarks"`
	Reason     string `json:"reason"`
}

func newEmptyResult(contents *journal.Contents, resume string) (emptyResult, error) {
	state := contents.State()
	e := emptyResult{Campaign: contents.Header.Campaign, Jobs: len(state.Jobs), Resume: resume}
	for _, j := range state.Jobs {
		if j.NoStartReason != "" {
			e.FailedJobs = append(e.FailedJobs, failedJob{j.Name, len(j.Carries), j.NoStartReason})
		}
	}
	for _, r := range state.Rounds {
		for t, err := range r.Trials() {
			if err != nil {
				return e, err
			}
			if t.State != coll.TrialFailed {
				continue
			}
			if e.Failed++; e.Failed == 1 {
				e.FirstError = fmt.Sprintf("%v: %s: %s", t.Candidate, t.Phase, t.Error)
			}
		}
	}
	return e, nil
}

func printEmptyResult(a *app, e emptyResult) {
	fmt.Fprintf(a.stdout, "campaign %s: no measurements in %s: there is nothing to report or select\n", e.Campaign, plural(e.Jobs, "job"))
	for _, j := range e.FailedJobs {
		fmt.Fprintf(a.stdout, "job %s: none of %d benchmarks started: %s\n", j.Job, j.Benchmarks, j.Reason)
	}
	if e.Failed > 0 {
		fmt.Fprintf(a.stdout, "%d trials failed, the first: %s\n", e.Failed, e.FirstError)
	}
	if len(e.FailedJobs)+e.Failed > 0 {
		fmt.Fprintf(a.stdout, "Fix this, then resume with: %s\n", e.Resume)
	} else {
		fmt.Fprintf(a.stdout, "Resume with: %s\n", e.Resume)
	}
}
