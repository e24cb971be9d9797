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

func (a *app) traceCommand() *cobra.Command {
	return verbs(&cobra.Command{
		Use:     "trace",
		Short:   "Show what a traced application calls",
		Example: indent("tutti trace show trace.csv"),
	}, a.traceShowCommand())
}

func (a *app) traceShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Show where the collective time of an application goes",
		Long: `Shows a trace that "tutti run --trace" has written: the time in each collective,
then the layouts and sizes with the most of it, which grid.trace of a campaign
gives the most weight. With a campaign's folder it says what the campaign's files
would spare: at each layout and size by what the campaign's report predicts of the
nearest point that was tuned.`,
		Example: indent("tutti trace show trace.csv", "tutti trace show trace.csv --html trace.html", "tutti trace show trace.csv --tuned tuned"),
		Args:    arguments(1, 1, "one trace"),
	}
	page := cmd.Flags().String("html", "", "write one HTML page instead")
	most := cmd.Flags().Int("points", 20, "how many layouts and sizes are shown")
	tuned := cmd.Flags().String("tuned", "", "`FOLDER` of a campaign: say what its files would spare")
	library := cmd.Flags().String("library", "", "with --tuned: `NAME` of the library, where the campaign tuned several")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *most < 1 {
			return usageError(cmd, fmt.Errorf("--points %d: want 1 or more", *most))
		}
		calls, err := preprocess.ReadTrace(args[0])
		if err != nil {
			return withCode(codeInput, err)
		}
		gains, err := gainsOf(*tuned, *library, calls)
		if err != nil {
			return withCode(codeInput, err)
		}
		if *page == "" {
			return report.WriteTrace(a.stdout, calls, gains, *most)
		}
		err = export.WriteFile(*page, func(w io.Writer) error { return report.WriteTraceHTML(w, filepath.Base(args[0]), calls, gains) })
		return withOutputCode(err)
	}
	return cmd
}

// gainsOf reads what a campaign's files would spare; nil for no folder.
func gainsOf(dir, library string, calls []preprocess.Calls) (*report.Gains, error) {
	if dir == "" {
		return nil, nil
	}
	if !slices.ContainsFunc(calls, func(c preprocess.Calls) bool { return c.Seconds > 0 }) {
		return nil, errors.New("--tuned: the trace has no times: want the column seconds")
	}
	return report.ReadGains(filepath.Join(dir, export.ReportJSON), library)
}
