package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/coll"
	"tutti/journal"
	"tutti/preprocess"
	"tutti/selection"
	"tutti/selection/table"
)

// exportFormats are what tutti export writes. Of them, rules, selection and json
// need models; the last three can go to standard output.
var exportFormats = []string{"all", "rules", "json", "selection", "csv", "summary"}

// selectionJSON is the selection for scripts, with its trees.
const selectionJSON = "selection.json"

func (a *app) exportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export FOLDER",
		Short: "Write selection files, modules, tables and measurements of a campaign from its journal",
		Long: `export writes what a campaign has found, from its journal, while it runs as well:

  rules      the files the libraries load, a shell snippet with the settings that make
             them obeyed (NAME.env), and the same as an environment module for
             Environment Modules and Lmod (module use DIR/modulefiles)
  json       what is selected at every grid point, what is predicted there, and the
             trees that say what is selected in between
  selection  a table of what is selected at every grid point
  csv        the measurements themselves
  summary    a table of them by algorithm
  all        all of these

A selection can be written for another release than was measured: then only
algorithms that both have are selected, and points where that would cost more than
export.max_loss of the campaign are left to the library. MPICH files are made from
the library's own tree, so releases other than 4.0.2 need the path of libmpich.so.
Files are replayed at every point before they are written; snippets and modules say
where a release was never tried.`,
		Example: indent(
			"tutti export results/demo --format rules --for mpich --dir /opt/tuned/mpich",
			"tutti export results/demo --for openmpi=5.0.9 --for mpich=4.2.3:/opt/mpich/lib/libmpich.so --dir tuned",
			"tutti export results/demo --format csv --for openmpi --dir -",
			"tutti export results/demo --output json"),
		Args: oneFolder,
	}
	format := cmd.Flags().String("format", "all", "`FORMAT`: "+strings.Join(exportFormats, ", "))
	releases := cmd.Flags().StringArray("for", nil, "`LIBRARY[=VERSION[:PATH]]` to write for, more than once for several; those of the campaign when not given")
	dir := cmd.Flags().String("dir", "", "`FOLDER` to write to; the campaign's when not given; - for standard output (one of json, selection, csv, summary)")
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e := exporter{app: a, format: *format, dir: *dir, json: *output == "json"}
		if err := errors.Join(checkOutput(cmd, *output), e.checkFlags(cmd, len(*releases) > 0)); err != nil {
			return err
		}
		var contents *journal.Contents
		var err error
		if e.campaign, e.results, contents, err = assembly.Reread(args[0]); err != nil {
			return err
		}
		a.warn(contents.Warnings)
		e.state = contents.State()
		if e.releases, err = export.Releases(e.campaign, *releases); err != nil {
			return usageError(cmd, err)
		}
		if e.dir == "-" && (e.format == "csv" || e.format == "summary") && len(e.releases) > 1 {
			return usageError(cmd, errors.New("--dir -: standard output takes one table: choose a library with --for"))
		}
		e.dir = cmp.Or(e.dir, args[0])
		return e.run(cmd.Context())
	}
	return cmd
}

// exporter is one call of tutti export.
type exporter struct {
	app      *app
	campaign *assembly.Campaign
	results  []campaign.Result
	state    *journal.State
	releases []export.Release
	format   string
	dir      string // - for standard output
	json     bool   // tell what was written as JSON
	done     exportFacts
}

// exportFacts is what --output json tells.
type exportFacts struct {
	Dir       string         `json:"dir"`
	Files     []exportedFile `json:"files"`
	Libraries []export.Told  `json:"libraries"` // those that selections were written for
	Warnings  []string       `json:"warnings"`
}

type exportedFile struct {
	Path    string `json:"path"`
	Format  string `json:"format"`
	Library string `json:"library,omitempty"` // empty: of several
}

// checkFlags reports what cannot be, before the campaign is read.
func (e *exporter) checkFlags(cmd *cobra.Command, chosen bool) error {
	switch {
	case !slices.Contains(exportFormats, e.format):
		return usageError(cmd, fmt.Errorf("--format %q: want one of %s", e.format, strings.Join(exportFormats, ", ")))
	case e.dir == "-" && (e.format == "all" || e.format == "rules"):
		return usageError(cmd, errors.New("--dir -: standard output takes one table: json, selection, csv or summary"))
	case e.dir == "-" && e.json:
		return usageError(cmd, errors.New("--dir - and --output json: both want standard output"))
	case chosen && e.dir == "":
		return usageError(cmd, errors.New("--for wants --dir: the folder of the campaign holds the files for what was measured"))
	case strings.ContainsFunc(e.dir, unicode.IsControl):
		return usageError(cmd, fmt.Errorf("--dir %q: no module can name a folder with control characters", e.dir))
	}
	return nil
}

func (e *exporter) wants(format string) bool { return e.format == "all" || e.format == format }

func (e *exporter) run(ctx context.Context) error {
	if e.dir != "-" {
		if err := os.MkdirAll(e.dir, 0o777); err != nil {
			return withOutputCode(err)
		}
	}
	e.done = exportFacts{Dir: e.dir, Files: []exportedFile{}, Libraries: []export.Told{}, Warnings: []string{}}
	if err := e.measurements(); err != nil {
		return err
	}
	if e.wants("selection") || e.wants("json") || e.wants("rules") {
		if err := e.selections(ctx); err != nil {
			return err
		}
	}
	return e.tell()
}

// measurements writes what was measured of each library.
func (e *exporter) measurements() error {
	for _, r := range e.releases {
		name := r.Measured()
		ms := measurements(e.campaign, e.results, name)
		if e.wants("csv") {
			if err := e.put("measurements-"+name+".csv", "csv", name, func(w io.Writer) error { return preprocess.WriteTable(w, ms) }); err != nil {
				return err
			}
		}
		if e.wants("summary") {
			if err := e.put("summary-"+name+".csv", "summary", name, func(w io.Writer) error { return preprocess.Summary(ms).WriteCSV(w) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// selections writes what models say, for each release.
func (e *exporter) selections(ctx context.Context) error {
	models, err := export.Train(ctx, e.campaign, e.results)
	if err != nil {
		return err
	}
	done, err := models.Conclude(e.state)
	if err != nil {
		return err
	}
	var targets []*export.Target
	for _, r := range e.releases {
		t, err := done.For(r)
		if err != nil {
			return err
		}
		targets = append(targets, t)
		e.done.Libraries = append(e.done.Libraries, t.Told())
	}
	if e.wants("selection") {
		if err := e.put(export.SelectionCSV, "selection", "", done.Selecting(targets).WriteSelection); err != nil {
			return err
		}
	}
	if e.wants("json") {
		doc := done.Document(targets)
		if err := e.put(selectionJSON, "json", "", func(w io.Writer) error { return writeDocument(w, doc) }); err != nil {
			return err
		}
	}
	if !e.wants("rules") {
		return nil
	}
	for i, t := range targets {
		if err := e.rules(t, &e.done.Libraries[i]); err != nil {
			return err
		}
	}
	return nil
}

// writeDocument writes a selection that was read back and replayed.
func writeDocument(w io.Writer, doc table.Document) error {
	text, err := doc.Bytes()
	if err != nil {
		return err
	}
	if _, err := table.Parse(text); err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// rules writes the files of one library, and its settings as a module.
func (e *exporter) rules(t *export.Target, told *export.Told) error {
	written, origin, err := t.Write(e.dir)
	if err != nil {
		return withOutputCode(err)
	}
	told.Origin = origin
	for _, name := range written.Names() {
		e.note(filepath.Join(e.dir, name), "rules", told.Library)
		if name != written.Snippet {
			continue
		}
		path, err := t.WriteModule(e.dir, written.Setup, e.campaign.Config.Name)
		switch {
		case errors.Is(err, selection.ErrSetup):
			e.warn(fmt.Sprintf("no module for %s: %v", told.Library, err))
		case err != nil:
			return withOutputCode(err)
		default:
			e.note(path, "rules", told.Library)
		}
	}
	return nil
}

func (e *exporter) warn(text string) {
	e.done.Warnings = append(e.done.Warnings, text)
	e.app.warn([]string{text})
}

// note tells of a file that was written.
func (e *exporter) note(path, format, library string) {
	e.done.Files = append(e.done.Files, exportedFile{path, format, library})
	if !e.json {
		fmt.Fprintln(e.app.stdout, path)
	}
}

// put writes one table to the folder or to standard output.
func (e *exporter) put(name, format, library string, write func(io.Writer) error) error {
	if e.dir == "-" {
		return write(e.app.stdout)
	}
	path := filepath.Join(e.dir, name)
	if err := export.WriteFile(path, write); err != nil {
		return withOutputCode(err)
	}
	e.note(path, format, library)
	return nil
}

// tell ends with what was written, or with what the files for another release
// leave out.
func (e *exporter) tell() error {
	if e.json {
		out := json.NewEncoder(e.app.stdout)
		out.SetIndent("", "  ")
		out.SetEscapeHTML(false)
		return out.Encode(e.done)
	}
	if e.dir == "-" {
		return nil
	}
	for _, l := range e.done.Libraries {
		if l.Version != l.Measured {
			fmt.Fprintf(e.app.stdout, "%s %s, measured as %s: %d of %d points left to the library, which lacks what is fast there\n",
				l.Library, l.Version, l.Measured, l.Left, l.Points)
		}
	}
	return nil
}

func measurements(c *assembly.Campaign, results []campaign.Result, library string) []coll.Measurement {
	var out []coll.Measurement
	for i, p := range c.Problems {
		if p.Library == library {
			out = append(out, results[i].Ledger.Measurements()...)
		}
	}
	return out
}
