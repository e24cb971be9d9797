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
	"tutti/coll/catalogue"
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
		done, err := conclude(cmd.Context(), b, results)
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

// exportFormats are what tutti export writes.
var exportFormats = []string{"all", catalogue.MPICH, catalogue.OpenMPI, "selection", "csv"}

func (a *app) exportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export FOLDER",
		Short: "Write selection files or measurements of a campaign from its journal",
		Long: `export trains the final models on what the journal holds and writes what they
select: mpich (JSON tree and settings), openmpi (rules and settings), selection (a
table of every grid point), csv (the measurements themselves), or all of them.`,
		Example: indent(
			"tutti export results/demo --format mpich --to /etc/mpich-tuned",
			"tutti export results/demo --format csv --to -"),
		Args: oneFolder,
	}
	format := cmd.Flags().String("format", "all", "`FORMAT`: "+strings.Join(exportFormats, ", "))
	to := cmd.Flags().String("to", "", "`FOLDER` to write to; the campaign's when empty; - for standard output (selection and csv)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !slices.Contains(exportFormats, *format) {
			return usageError(cmd, fmt.Errorf("--format %q: want one of %s", *format, strings.Join(exportFormats, ", ")))
		}
		if *to == "-" && *format != "csv" && *format != "selection" {
			return usageError(cmd, fmt.Errorf("--to -: standard output takes the formats selection and csv"))
		}
		b, results, contents, err := reread(args[0])
		if err != nil {
			return err
		}
		a.warn(contents.Warnings)
		switch *to {
		case "":
			*to = args[0]
		case "-":
		default:
			if err := os.MkdirAll(*to, 0o777); err != nil {
				return withOutputCode(err)
			}
		}
		return a.export(cmd.Context(), b, results, *format, *to)
	}
	return cmd
}

func (a *app) export(ctx context.Context, b *built, results []campaign.Result, format, to string) error {
	put := func(name string, write func(io.Writer) error) error {
		if to == "-" {
			return write(a.stdout)
		}
		path := filepath.Join(to, name)
		if err := writeFile(path, write); err != nil {
			return withOutputCode(err)
		}
		fmt.Fprintln(a.stdout, path)
		return nil
	}
	all := format == "all"
	if all || format == "csv" {
		for _, lib := range b.config.Libraries {
			name := "measurements-" + lib.Name + ".csv"
			if err := put(name, func(w io.Writer) error { return preprocess.WriteTable(w, measurements(b, results, lib.Name)) }); err != nil {
				return err
			}
		}
	}
	if format == "csv" {
		return nil
	}
	done, err := conclude(ctx, b, results)
	if err != nil {
		return err
	}
	if all || format == "selection" {
		if err := put(selectionCSV, done.writeSelection); err != nil {
			return err
		}
	}
	for _, lib := range b.config.Libraries {
		if !all && format != lib.Name {
			continue
		}
		facts, err := done.exportOne(lib, to)
		if err != nil {
			return withOutputCode(err)
		}
		for _, name := range facts.Files {
			fmt.Fprintln(a.stdout, filepath.Join(to, name))
		}
	}
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
