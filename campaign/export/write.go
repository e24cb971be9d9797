package export

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sync/errgroup"

	"tutti/internal/config"
	"tutti/mpi"
	"tutti/report"
	"tutti/selection"
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
	return selection.WriteFile(path, b.Bytes())
}

// WriteLibrary checks and writes the selection files of one library. On the machine of a connected campaign,
// it first runs a program that loads the files. It also writes the library's settings as an environment
// module if a module can contain them.
func (c *Conclusions) WriteLibrary(ctx context.Context, lib config.Library, dir string) (mpi.Export, report.LibraryFacts, error) {
	b, err := c.build(lib)
	if err != nil {
		return mpi.Export{}, report.LibraryFacts{}, err
	}
	verified, err := c.verified(lib.Name)
	if err != nil {
		return mpi.Export{}, report.LibraryFacts{}, err
	}
	b.unverified, b.placement = !verified, c.placements(lib.Name)
	b.load = func(s selection.Setup) error { return c.campaign.CheckLoads(ctx, lib, s) }
	var rows []selection.Row
	for _, p := range c.Problems {
		if p.Library == lib.Name && !p.AllDefault {
			rows = append(rows, p.Rows...)
		}
	}
	x, err := b.write(dir, rows)
	if err != nil {
		return x, report.LibraryFacts{}, fmt.Errorf("selection files of %s %s: %w", lib.Name, lib.Version, err)
	}
	if _, err := b.WriteModule(dir, x.Setup, c.campaign.Config.Name); err != nil && !errors.Is(err, selection.ErrSetup) {
		return x, report.LibraryFacts{}, err
	}
	facts := report.LibraryFacts{Library: lib.Name, Version: lib.Version, Origin: b.origin(), Files: x.Names(), Replayed: len(rows), Verified: verified}
	if b.placement.Known() {
		facts.Placement = &b.placement
	}
	return x, facts, nil
}

// facts returns the content of the report as facts.
func (c *Conclusions) facts(libraries []report.LibraryFacts, by Program) (report.Facts, error) {
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
		Warnings:  append(append([]string{}, c.campaign.Warnings...), c.warnings...),
	}
	var err error
	if f.Problems, err = c.problemFacts(); err != nil {
		return f, err
	}
	var names []string
	for _, lib := range cfg.Libraries {
		names = append(names, lib.Name)
	}
	if err := AddJournal(&f, c.state, names, cfg.Attempts); err != nil {
		return f, err
	}
	for i := range f.Libraries {
		f.Libraries[i].Benefit = c.benefit(f, f.Libraries[i].Library)
	}
	return f, nil
}

// problemFacts returns the facts of all problems. It computes several of them at the same time.
func (c *Conclusions) problemFacts() ([]report.ProblemFacts, error) {
	out := make([]report.ProblemFacts, len(c.Problems))
	var group errgroup.Group
	group.SetLimit(c.campaign.Workers())
	for i, p := range c.Problems {
		group.Go(func() (err error) {
			out[i], err = ProblemFacts(p.Problem, p.Result, p.Conclusion)
			return err
		})
	}
	return out, group.Wait()
}

// Program identifies the program that writes a report: its own version and the versions of what can change
// the figures.
type Program struct {
	Version  string
	Versions []report.Version
}

// Write writes all files of a campaign except the journal into a folder. It returns the facts of the
// report.
func (c *Conclusions) Write(ctx context.Context, dir string, by Program) (report.Facts, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return report.Facts{}, err
	}
	var libraries []report.LibraryFacts
	for _, lib := range c.campaign.Config.Libraries {
		_, facts, err := c.WriteLibrary(ctx, lib, dir)
		if err != nil {
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
	return f, WriteFile(filepath.Join(dir, SelectionCSV), c.WriteSelection)
}

func writeReport(dir string, f report.Facts) error {
	return errors.Join(
		WriteFile(filepath.Join(dir, ReportHTML), func(w io.Writer) error { return report.WriteHTML(w, f) }),
		WriteFile(filepath.Join(dir, ReportJSON), func(w io.Writer) error { return report.WriteJSON(w, f) }),
		WriteFile(filepath.Join(dir, CurveCSV), func(w io.Writer) error { return report.WriteCurve(w, f) }),
	)
}

// WriteSelection writes the selection at every grid point as CSV.
func (c *Conclusions) WriteSelection(w io.Writer) error {
	out := csv.NewWriter(w)
	records := [][]string{{"library", "collective", "nodes", "ppn", "msg_bytes", "algorithm", "predicted_slowdown"}}
	for _, p := range c.Problems {
		for _, row := range p.Rows {
			alg := p.Selection.Choose(row.Point)
			loss := ""
			if v, ok := row.Loss(alg); ok {
				loss = strconv.FormatFloat(1+v, 'g', 6, 64)
			}
			records = append(records, []string{
				p.Library, string(p.Problem.Collective), strconv.Itoa(row.Point.Nodes), strconv.Itoa(row.Point.PPN),
				strconv.FormatInt(row.Point.MsgBytes, 10), alg.String(), loss,
			})
		}
	}
	return out.WriteAll(records)
}
