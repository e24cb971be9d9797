package export

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/mpi"
	"tutti/report"
)

// Names of the report's files in a campaign's folder.
const (
	ReportHTML   = "report.html"
	ReportJSON   = "report.json"
	CurveCSV     = "curve.csv"
	SelectionCSV = "selection.csv"
)

// WriteFile writes a file atomically: readers see either the old content or the new one.
func WriteFile(path string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return mpi.WriteFile(path, b.Bytes())
}

func (c *FinalSelections) facts(libraries []report.LibraryFacts, by Program) (report.Facts, error) {
	cfg := c.campaign.Config
	f := report.Facts{
		Tutti: by.Version, Campaign: cfg.Name, Machine: cfg.Machine, Seed: cfg.Seed,
		Method: cfg.Method, Scaling: cfg.Model.Scaling,
		Criteria: report.Criteria{
			Slowdown: cfg.Stop.Slowdown, Mistakes: cfg.Stop.Mistakes,
			MistakeThreshold: cfg.Stop.MistakeThreshold, Patience: cfg.Stop.Patience,
		},
		Libraries: libraries,
		Versions:  by.Versions,
		Warnings:  append([]string{}, c.campaign.Warnings...),
	}
	for _, t := range c.Targets {
		f.Warnings = append(f.Warnings, t.Warnings...)
	}
	var err error
	if f.Journal, err = journal.Digest(cfg.Output); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if f.Measurements, err = journal.MeasurementDigest(cfg.Output); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if f.Problems, err = c.problemFacts(); err != nil {
		return f, err
	}
	f.Warnings = append(f.Warnings, exceededBudgets(cfg.Stop, f.Problems)...)
	if err := AddJournal(&f, c.state, cfg.LibraryNames(), cfg.Attempts); err != nil {
		return f, err
	}
	for i, v := range f.Verification {
		if cfg.Runner.Live() {
			f.Verification[i].Date = c.state.Verification(v.Library).Last.UTC().Format(time.DateOnly)
		}
	}
	for i := range f.Libraries {
		f.Libraries[i].Benefit = c.benefit(f, f.Libraries[i].Library)
		f.Libraries[i].Verdict = c.verdict(f, f.Libraries[i])
	}
	return f, nil
}

// exceededBudgets returns a text for each budget of a campaign that its problems exceeded. The limit is reached within a
// round, whose launches are measured to their end.
func exceededBudgets(stop config.Stop, problems []report.ProblemFacts) []string {
	machine, node := 0.0, 0.0
	for _, p := range problems {
		machine, node = machine+p.MachineSeconds, node+p.NodeSeconds
	}
	var out []string
	for _, b := range []struct {
		key         string
		used, limit float64 // seconds
	}{{"stop.machine_time", machine, stop.MachineTime.Seconds()}, {"stop.node_hours", node, stop.NodeHours * 3600}} {
		if b.limit > 0 && b.used > b.limit {
			out = append(out, fmt.Sprintf("%s: %.3g s of %.3g s: the last round reached the limit, and its launches were measured to their end", b.key, b.used, b.limit))
		}
	}
	return out
}

func (c *FinalSelections) problemFacts() ([]report.ProblemFacts, error) {
	out := make([]report.ProblemFacts, len(c.Problems))
	var group errgroup.Group
	group.SetLimit(c.campaign.Workers())
	for i, p := range c.Problems {
		group.Go(func() (err error) {
			if out[i], err = ProblemFacts(p); out[i].Stop == "" {
				out[i].GoesOn = c.state.Problem(p.Problem.Problem).GoesOn(p.Spec.Criteria)
			}
			return err
		})
	}
	return out, group.Wait()
}

// Program identifies the program that writes a report. It has the program's version and the versions of
// everything that can change the numbers in a report.
type Program struct {
	Version  string
	Versions []report.Version
}

// Write writes all files of a campaign except the journal into a folder. It returns the facts of the report.
func (c *FinalSelections) Write(ctx context.Context, dir string, by Program) (report.Facts, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return report.Facts{}, err
	}
	var libraries []report.LibraryFacts
	for _, t := range c.Targets {
		w, err := t.Write(ctx, dir)
		if err != nil {
			return report.Facts{}, err
		}
		facts := t.facts(w)
		if facts.Sum, err = sumOf(dir, facts.Files); err != nil {
			return report.Facts{}, err
		}
		libraries = append(libraries, facts)
	}
	f, err := c.facts(libraries, by)
	if err != nil {
		return f, err
	}
	if err := writeReport(dir, f); err != nil {
		return f, err
	}
	return f, WriteFile(filepath.Join(dir, SelectionCSV), func(w io.Writer) error { return WriteSelection(w, c.Targets) })
}

func writeReport(dir string, f report.Facts) error {
	return errors.Join(
		WriteFile(filepath.Join(dir, ReportHTML), func(w io.Writer) error { return report.WriteHTML(w, f) }),
		WriteFile(filepath.Join(dir, ReportJSON), func(w io.Writer) error { return report.WriteJSON(w, f) }),
		WriteFile(filepath.Join(dir, CurveCSV), func(w io.Writer) error { return report.WriteCurve(w, f) }),
	)
}

// WriteSelection writes the selections of releases at every grid point as CSV.
func WriteSelection(w io.Writer, releases []*Target) error {
	records := [][]string{slices.Concat([]string{"library", "collective"}, coll.AxisNames(), []string{"algorithm", "predicted_slowdown", "guard"})}
	for _, t := range releases {
		for _, p := range t.problems {
			choose := t.chooser(p)
			for i, row := range p.Rows {
				alg, loss := choose(row.Point), ""
				if v, ok := row.Loss(alg); ok {
					loss = strconv.FormatFloat(1+v, 'g', 6, 64)
				}
				records = append(records, slices.Concat([]string{p.Library, string(p.Problem.Collective)}, coll.AxisTexts(row.Point),
					[]string{alg.String(), loss, string(p.GuardResult(i))}))
			}
		}
	}
	return csv.NewWriter(w).WriteAll(records)
}
