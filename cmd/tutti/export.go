package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/coll"
	"tutti/journal"
	"tutti/preprocess"
)

// The values of --only.
const (
	exportAll          = "all"
	exportRules        = "rules"
	exportTrees        = "trees"
	exportSelection    = "selection"
	exportMeasurements = "measurements"
	exportSummary      = "summary"
)

var exportable = []string{exportAll, exportRules, exportTrees, exportSelection, exportMeasurements, exportSummary}

// selectionJSON is the name of the file with the selection and its decision trees.
const selectionJSON = "selection.json"

func exportCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export FOLDER",
		Short: "Write selection files and tables of a campaign from its journal",
		Long: `export writes the results of a campaign from its journal. It works while the campaign
runs, too. With --only it writes one of these:

  rules         the files that the MPI libraries load, a shell snippet (NAME.env) with
                the settings that activate them, and the same settings as a module for
                Environment Modules and Lmod (module use FOLDER/modulefiles)
  trees         selected algorithm and predicted time of every grid point, and the
                decision trees between the points (selection.json)
  selection     a table of the selected algorithms of every grid point (selection.csv)
  measurements  the measurements, a CSV file for each library
  summary       a table of the measurements by algorithm, for each library

A selection can be written for another release than the measured one. Then only
algorithms of both releases are selected. Points where this costs more than
export.max_loss of the campaign are left to the library. MPICH files are made from the
library's own decision tree: for releases other than 4.0.2 give the path of libmpich.so.
Every file is replayed at all points before it is written. Snippets and modules say
when a release has never been tested.`,
		Example: examples(
			"tutti export results/demo --only rules --for mpich --out /opt/tuned/mpich",
			"tutti export results/demo --for openmpi=5.0.9 --for mpich=4.2.3:/opt/mpich/lib/libmpich.so --out tuned",
			"tutti export results/demo --only measurements --for openmpi --out -",
			"tutti export results/demo --format json"),
		Args:              oneFolder,
		ValidArgsFunction: completeFolders,
	}
	e := exporter{app: a}
	choiceFlag(cmd, "only", &e.only, exportAll, exportable, "`KIND` of results to write")
	cmd.Flags().StringArrayVar(&e.targets, "for", nil, "`LIBRARY[=VERSION[:PATH]]` to write for, repeatable; default: the libraries of the campaign")
	completeLibraries(cmd, "for")
	cmd.Flags().StringVarP(&e.dir, "out", "o", "", "`FOLDER` to write to, default: that of the campaign; - for standard output (trees, selection, measurements or summary)")
	a.formatFlag(cmd)
	mustComplete(cmd.MarkFlagDirname("out"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := e.checkFlags(); err != nil {
			return usageError(cmd, err)
		}
		return e.run(cmd, args[0])
	}
	return cmd
}

type exporter struct {
	*app
	only    string
	targets []string // values of --for
	dir     string   // folder of the written files; - for standard output

	campaign *assembly.Campaign
	results  []campaign.Result
	state    *journal.State
	releases []export.Release
	done     exportFacts
}

type exportFacts struct {
	Dir       string           `json:"dir"`
	Files     []exportedFile   `json:"files"`
	Libraries []export.Summary `json:"libraries"` // releases that selections were written for
	Warnings  []string         `json:"warnings"`
}

type exportedFile struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"`              // a value of --only
	Library string `json:"library,omitempty"` // empty for files about several libraries
}

// checkFlags returns an error for flags that contradict each other.
func (e *exporter) checkFlags() error {
	switch {
	case e.dir == "-" && (e.only == exportAll || e.only == exportRules):
		return fmt.Errorf("--out -: standard output takes one table: want --only %s, %s, %s or %s", exportTrees, exportSelection, exportMeasurements, exportSummary)
	case e.dir == "-" && e.format == formatJSON:
		return errors.New("--out - and --format json: both write to standard output")
	case len(e.targets) > 0 && e.dir == "":
		return errors.New("--for needs --out: the folder of the campaign contains the files for the measured releases")
	case strings.ContainsFunc(e.dir, unicode.IsControl):
		return fmt.Errorf("--out %q: a module cannot name a folder with control characters", e.dir)
	}
	return nil
}

func (e *exporter) run(cmd *cobra.Command, folder string) error {
	var contents *journal.Contents
	var err error
	if e.campaign, e.results, contents, err = assembly.RestoreAll(folder); err != nil {
		return err
	}
	e.app.warn(contents.Warnings)
	e.state = contents.State()
	if e.releases, err = export.Releases(e.campaign, e.targets); err != nil {
		return usageError(cmd, err)
	}
	if e.dir == "-" && (e.only == exportMeasurements || e.only == exportSummary) && len(e.releases) > 1 {
		return usageError(cmd, errors.New("--out -: standard output takes one table: choose a library with --for"))
	}
	e.dir = cmp.Or(e.dir, folder)
	return e.write(cmd.Context())
}

func (e *exporter) wants(kind string) bool { return e.only == exportAll || e.only == kind }

func (e *exporter) write(ctx context.Context) error {
	if e.dir != "-" {
		if err := os.MkdirAll(e.dir, 0o777); err != nil {
			return withOutputCode(err)
		}
	}
	e.done.Dir = e.dir
	if err := e.writeMeasurements(); err != nil {
		return err
	}
	if e.wants(exportSelection) || e.wants(exportTrees) || e.wants(exportRules) {
		if err := e.writeSelections(ctx); err != nil {
			return err
		}
	}
	return e.show(e.done, e.printDone)
}

func (e *exporter) writeMeasurements() error {
	for _, r := range e.releases {
		name := r.Measured()
		ms := measurements(e.campaign, e.results, name)
		if e.wants(exportMeasurements) {
			if err := e.put("measurements-"+name+".csv", exportMeasurements, name, func(w io.Writer) error { return preprocess.WriteTable(w, ms) }); err != nil {
				return err
			}
		}
		if e.wants(exportSummary) {
			if err := e.put("summary-"+name+".csv", exportSummary, name, func(w io.Writer) error { return preprocess.Summary(ms).WriteCSV(w) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeSelections trains the models and makes the final selections. It writes the files with selections that the user
// asked for.
func (e *exporter) writeSelections(ctx context.Context) error {
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
		for _, w := range t.Warnings {
			e.warn(w)
		}
		targets = append(targets, t)
		e.done.Libraries = append(e.done.Libraries, t.Summary())
	}
	if e.wants(exportSelection) {
		if err := e.put(export.SelectionCSV, exportSelection, "", func(w io.Writer) error { return export.WriteSelection(w, targets) }); err != nil {
			return err
		}
	}
	if e.wants(exportTrees) {
		text, err := done.Document(targets).Bytes()
		if err != nil {
			return err
		}
		if err := e.put(selectionJSON, exportTrees, "", func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			return err
		}
	}
	if !e.wants(exportRules) {
		return nil
	}
	for i, t := range targets {
		if err := e.writeRules(ctx, t, e.done.Libraries[i].Library); err != nil {
			return err
		}
	}
	return nil
}

// writeRules writes the selection files of one library, and the library's settings as an environment
// module.
func (e *exporter) writeRules(ctx context.Context, t *export.Target, library string) error {
	written, err := t.Write(ctx, e.dir)
	if err != nil {
		return withOutputCode(err)
	}
	for _, name := range written.Names() {
		e.note(filepath.Join(e.dir, name), exportRules, library)
		switch {
		case name != written.Snippet:
		case written.NoModule != nil:
			e.warn(fmt.Sprintf("no module for %s: %v", library, written.NoModule))
		default:
			e.note(written.Module, exportRules, library)
		}
	}
	return nil
}

func (e *exporter) warn(text string) {
	e.done.Warnings = append(e.done.Warnings, text)
	e.app.warn([]string{text})
}

// note adds a file to the list of written files and prints the path of the file.
func (e *exporter) note(path, kind, library string) {
	e.done.Files = append(e.done.Files, exportedFile{path, kind, library})
	if e.format != formatJSON {
		fmt.Fprintln(e.stdout, path)
	}
}

// put writes one file into the folder for the results, or to standard output if this folder is "-".
func (e *exporter) put(name, kind, library string, write func(io.Writer) error) error {
	if e.dir == "-" {
		return write(e.stdout)
	}
	path := filepath.Join(e.dir, name)
	if err := export.WriteFile(path, write); err != nil {
		return withOutputCode(err)
	}
	e.note(path, kind, library)
	return nil
}

// printDone prints, for each library, at how many points the choice is left to the library. It does so only
// if the files are for another release than the measured one.
func (e *exporter) printDone() {
	if e.dir == "-" {
		return
	}
	for _, l := range e.done.Libraries {
		if l.Version != l.Measured {
			fmt.Fprintf(e.stdout, "%s %s, measured as %s: %d of %d points left to the library: it does not have the fast algorithms\n",
				l.Library, l.Version, l.Measured, l.Left, l.Points)
		}
	}
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
