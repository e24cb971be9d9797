package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"tutti/campaign/export"
	"tutti/preprocess"
	"tutti/report"
)

type traceOptions struct {
	*app
	page     *string
	points   *int
	campaign *string
	library  *string
}

func traceCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace FILE",
		Short: "Show where the collective time of an application goes",
		Long: `trace reads a file that "tutti run --trace" wrote. It shows the time in each
collective, then the layouts and message sizes with the most time: grid.trace of a
campaign gives them the highest weights.

With the folder of a campaign it estimates what the campaign's selection files gain:
at each layout and size it takes the gain at the nearest tuned point, as a
verification measured it or, if there is none, as the report predicts.`,
		Example:           examples("tutti trace trace.csv", "tutti trace trace.csv --out trace.html", "tutti trace trace.csv --campaign results/night"),
		Args:              arguments(1, 1, "one trace"),
		ValidArgsFunction: completeFiles,
	}
	o := traceOptions{app: a}
	flags := cmd.Flags()
	o.page = flags.StringP("out", "o", "", "write an HTML page to this `FILE` instead")
	o.points = flags.Int("points", 20, "number of layouts and sizes to show")
	o.campaign = flags.String("campaign", "", "`FOLDER` of a campaign whose gain is estimated")
	o.library = flags.String("library", "", "`NAME` of the library of that campaign, where it tuned several")
	a.formatFlag(cmd)
	mustComplete(cmd.MarkFlagDirname("campaign"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *o.points < 1 {
			return usageError(cmd, fmt.Errorf("--points %d: want 1 or more", *o.points))
		}
		if *o.library != "" && *o.campaign == "" {
			return usageError(cmd, fmt.Errorf("--library %s: want --campaign FOLDER, too", *o.library))
		}
		for _, name := range []string{"format", "points"} {
			if *o.page != "" && cmd.Flags().Changed(name) {
				return usageError(cmd, fmt.Errorf("--%s: the page of --out does not have it: want one of them", name))
			}
		}
		return o.run(args[0])
	}
	return cmd
}

func (o *traceOptions) run(file string) error {
	trace, err := preprocess.ReadTrace(file)
	if err != nil {
		return withCode(codeInput, err)
	}
	gains, err := readGains(*o.campaign, *o.library, trace.Calls)
	switch {
	case err != nil:
		return withCode(codeInput, err)
	case *o.page != "":
		err = export.WriteFile(*o.page, func(w io.Writer) error { return report.WriteTraceHTML(w, filepath.Base(file), trace, gains) })
		return withOutputCode(err)
	}
	return o.show(report.NewTraceFacts(trace, gains), func() { fmt.Fprint(o.stdout, report.TraceText(trace, gains, *o.points, terminalWidth)) })
}

// readGains returns how much time a campaign's selection is predicted to save in the calls, according to the
// campaign's report. It returns nil if dir is empty.
func readGains(dir, library string, calls []preprocess.Calls) (*report.Gains, error) {
	if dir == "" {
		return nil, nil
	}
	if !slices.ContainsFunc(calls, func(c preprocess.Calls) bool { return c.Seconds > 0 }) {
		return nil, errors.New("--campaign: the trace has no times: want the column seconds")
	}
	return report.ReadGains(filepath.Join(dir, export.ReportJSON), library)
}
