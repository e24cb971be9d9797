package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/preprocess"
	"tutti/report"
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
	results := make([]campaign.Result, len(b.problems))
	for i, p := range b.problems {
		if results[i], err = campaign.Recall(b.spec, p, contents.Records); err != nil {
			return nil, nil, nil, withCode(codeInput, fmt.Errorf("journal of %s: %w", dir, err))
		}
	}
	return b, results, contents, nil
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
		done, err := conclude(cmd.Context(), b, results, contents.Records)
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

// exportFormats are what tutti export writes. The first three need models.
var exportFormats = []string{"all", "rules", "selection", "csv", "summary"}

func (a *app) exportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export FOLDER",
		Short: "Write selection files or measurements of a campaign from its journal",
		Long: `export writes what a campaign has found, from its journal: rules (the files the
libraries load, with their settings), selection (a table of what they select at every
grid point), csv (the measurements themselves), summary (a table of them by
algorithm), or all of these.`,
		Example: indent(
			"tutti export results/demo --format rules --library mpich --to /etc/mpich-tuned",
			"tutti export results/demo --format csv --library openmpi --to -"),
		Args: oneFolder,
	}
	format := cmd.Flags().String("format", "all", "`FORMAT`: "+strings.Join(exportFormats, ", "))
	library := cmd.Flags().String("library", "", "`NAME` of the one library to write for; every one of the campaign when empty")
	to := cmd.Flags().String("to", "", "`FOLDER` to write to; the campaign's when empty; - for standard output (csv and summary of one library, selection)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !slices.Contains(exportFormats, *format) {
			return usageError(cmd, fmt.Errorf("--format %q: want one of %s", *format, strings.Join(exportFormats, ", ")))
		}
		if *to == "-" && (*format == "all" || *format == "rules") {
			return usageError(cmd, fmt.Errorf("--to -: standard output takes one table: selection, csv or summary"))
		}
		b, results, contents, err := reread(args[0])
		if err != nil {
			return err
		}
		a.warn(contents.Warnings)
		e := exporter{app: a, built: b, results: results, records: contents.Records, format: *format, to: *to}
		if e.libraries, err = chosenLibraries(b, *library); err != nil {
			return usageError(cmd, err)
		}
		switch {
		case *to == "":
			e.to = args[0]
		case *to == "-":
			if *format != "selection" && len(e.libraries) > 1 {
				return usageError(cmd, fmt.Errorf("--to -: standard output takes one table: choose a library with --library"))
			}
		default:
			if err := os.MkdirAll(*to, 0o777); err != nil {
				return withOutputCode(err)
			}
		}
		return e.run(cmd.Context())
	}
	return cmd
}

// chosenLibraries returns the libraries of a campaign, or the one called name.
func chosenLibraries(b *built, name string) ([]config.Library, error) {
	if name == "" {
		return b.config.Libraries, nil
	}
	var known []string
	for _, lib := range b.config.Libraries {
		if lib.Name == name {
			return []config.Library{lib}, nil
		}
		known = append(known, lib.Name)
	}
	return nil, fmt.Errorf("--library %q: the campaign is for %s", name, strings.Join(known, ", "))
}

// exporter is one call of tutti export.
type exporter struct {
	app       *app
	built     *built
	results   []campaign.Result
	records   []store.Record
	libraries []config.Library
	format    string
	to        string // folder, or - for standard output
}

func (e exporter) wants(format string) bool { return e.format == "all" || e.format == format }

func (e exporter) run(ctx context.Context) error {
	for _, lib := range e.libraries {
		ms := measurements(e.built, e.results, lib.Name)
		if e.wants("csv") {
			if err := e.put("measurements-"+lib.Name+".csv", func(w io.Writer) error { return preprocess.WriteTable(w, ms) }); err != nil {
				return err
			}
		}
		if e.wants("summary") {
			if err := e.put("summary-"+lib.Name+".csv", func(w io.Writer) error { return preprocess.Summary(ms).WriteCSV(w) }); err != nil {
				return err
			}
		}
	}
	if !e.wants("selection") && !e.wants("rules") {
		return nil
	}
	done, err := conclude(ctx, e.built, e.results, e.records)
	if err != nil {
		return err
	}
	if e.wants("selection") {
		if err := e.put(selectionCSV, done.writeSelection); err != nil {
			return err
		}
	}
	if e.wants("rules") {
		return e.rules(done)
	}
	return nil
}

func (e exporter) rules(done *conclusions) error {
	for _, lib := range e.libraries {
		facts, err := done.exportOne(lib, e.to)
		if err != nil {
			return withOutputCode(err)
		}
		for _, name := range facts.Files {
			fmt.Fprintln(e.app.stdout, filepath.Join(e.to, name))
		}
	}
	return nil
}

// put writes one table to the folder or to standard output.
func (e exporter) put(name string, write func(io.Writer) error) error {
	if e.to == "-" {
		return write(e.app.stdout)
	}
	path := filepath.Join(e.to, name)
	if err := writeFile(path, write); err != nil {
		return withOutputCode(err)
	}
	fmt.Fprintln(e.app.stdout, path)
	return nil
}

func measurements(b *built, results []campaign.Result, library string) []coll.Measurement {
	var out []coll.Measurement
	for i, p := range b.problems {
		if p.Library == library {
			out = append(out, results[i].Ledger.Measurements()...)
		}
	}
	return out
}
