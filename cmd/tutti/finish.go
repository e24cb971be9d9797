package main

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

	"tutti/campaign"
	"tutti/campaign/report"
	"tutti/internal/config"
	"tutti/mpi"
	"tutti/selection"
	"tutti/store"
	"tutti/verify"
)

// Files of a campaign's folder beside the journal and the selection files.
const (
	reportHTML   = "report.html"
	reportJSON   = "report.json"
	curveCSV     = "curve.csv"
	selectionCSV = "selection.csv"
)

// conclusions are the problems of a campaign after measuring, in their order;
// those without a measurement are left out.
type conclusions struct {
	built   *built
	parts   []campaign.Conclusion
	of      []campaign.Problem
	records []store.Record
}

// conclude trains the final models of every problem, side by side. What the
// records of the campaign condemned is left to the default.
func conclude(ctx context.Context, b *built, results []campaign.Result, records []store.Record) (*conclusions, error) {
	entries, err := verify.Entries(records)
	if err != nil {
		return nil, withCode(codeInput, err)
	}
	all := make([]*campaign.Conclusion, len(b.problems))
	var group errgroup.Group
	group.SetLimit(b.workers())
	for i, p := range b.problems {
		if results[i].Ledger == nil || len(results[i].Ledger.Measurements()) == 0 {
			continue
		}
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			t, err := newTarget(b.libraryOf(p), b.config.Export)
			if err != nil {
				return err
			}
			c, err := campaign.Conclude(b.spec, p, results[i], verify.CondemnedBy(entries, p.Library, p.Collective), t.fit)
			all[i] = &c
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	c := &conclusions{built: b, records: records}
	for i, part := range all {
		if part != nil {
			c.parts = append(c.parts, *part)
			c.of = append(c.of, b.problems[i])
		}
	}
	if len(c.parts) == 0 {
		return nil, nothingToReport(results)
	}
	return c, nil
}

// errNothing is matched when there is no measurement to train on.
var errNothing = errors.New("nothing has been measured: nothing to report")

func nothingToReport(results []campaign.Result) error {
	failed, first := 0, ""
	for _, r := range results {
		failed += r.Ledger.Failed()
		if first == "" && len(r.Warnings) > 0 {
			first = r.Warnings[0]
		}
	}
	if failed == 0 {
		return errNothing
	}
	return fmt.Errorf("%w: %d trials failed; %s", errNothing, failed, first)
}

// export writes the selection files of every library, checked by replaying them.
func (c *conclusions) export(dir string) ([]report.LibraryFacts, error) {
	var out []report.LibraryFacts
	for _, lib := range c.built.config.Libraries {
		_, facts, err := c.exportOne(lib, dir)
		if err != nil {
			return nil, err
		}
		out = append(out, facts)
	}
	return out, nil
}

// exportOne writes the selection files of one library.
func (c *conclusions) exportOne(lib config.Library, dir string) (mpi.Export, report.LibraryFacts, error) {
	t, err := newTarget(lib, c.built.config.Export)
	if err != nil {
		return mpi.Export{}, report.LibraryFacts{}, err
	}
	var rows []selection.Row
	for i, p := range c.of {
		if p.Library == lib.Name && !c.parts[i].Left {
			rows = append(rows, c.parts[i].Rows...)
		}
	}
	x, err := t.write(dir, rows)
	if err != nil {
		return x, report.LibraryFacts{}, fmt.Errorf("selection files of %s %s: %w", lib.Name, lib.Version, err)
	}
	return x, report.LibraryFacts{Library: lib.Name, Version: lib.Version, Origin: t.origin(), Files: x.Names(), Checked: len(rows)}, nil
}

// facts gathers what the report shows.
func (c *conclusions) facts(libraries []report.LibraryFacts) (report.Facts, error) {
	cfg := c.built.config
	f := report.Facts{
		Tutti: version, Campaign: cfg.Name, Machine: cfg.Machine, Seed: cfg.Seed,
		Strategy: cfg.Strategy.Name, Scaling: cfg.Model.Scaling,
		Criteria: report.Criteria{
			Slowdown: cfg.Stop.Slowdown, Mistakes: cfg.Stop.Mistakes,
			MistakeThreshold: cfg.Stop.MistakeThreshold, Patience: cfg.Stop.Patience,
		},
		Libraries: libraries,
		Versions:  versions(),
		Warnings:  append([]string{}, c.built.warnings...),
	}
	for _, part := range c.parts {
		f.Problems = append(f.Problems, part.Facts)
	}
	var names []string
	for _, lib := range cfg.Libraries {
		names = append(names, lib.Name)
	}
	return f, withCode(codeInput, campaign.Recorded(&f, c.records, names, cfg.Attempts))
}

// writeAll writes every file of the campaign's folder but the journal.
func (c *conclusions) writeAll(dir string) (report.Facts, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return report.Facts{}, err
	}
	libraries, err := c.export(dir)
	if err != nil {
		return report.Facts{}, err
	}
	f, err := c.facts(libraries)
	if err != nil {
		return f, err
	}
	if err := writeReport(dir, f); err != nil {
		return f, err
	}
	return f, writeFile(filepath.Join(dir, selectionCSV), c.writeSelection)
}

func writeReport(dir string, f report.Facts) error {
	return errors.Join(
		writeFile(filepath.Join(dir, reportHTML), func(w io.Writer) error { return report.WriteHTML(w, f) }),
		writeFile(filepath.Join(dir, reportJSON), func(w io.Writer) error { return report.WriteJSON(w, f) }),
		writeFile(filepath.Join(dir, curveCSV), func(w io.Writer) error { return report.WriteCurve(w, f) }),
	)
}

// writeFile puts a whole file in place at once.
func writeFile(path string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return selection.WriteFile(path, b.Bytes())
}

// writeSelection lists what was selected at every grid point.
func (c *conclusions) writeSelection(w io.Writer) error {
	out := csv.NewWriter(w)
	records := [][]string{{"library", "collective", "nodes", "ppn", "msg_bytes", "algorithm", "predicted_slowdown"}}
	for i, p := range c.of {
		for _, row := range c.parts[i].Rows {
			alg := c.parts[i].Selection.Choose(row.Point)
			loss := ""
			if v, ok := row.Loss(alg); ok {
				loss = strconv.FormatFloat(1+v, 'g', 6, 64)
			}
			records = append(records, []string{
				p.Library, string(p.Collective), strconv.Itoa(row.Point.Nodes), strconv.Itoa(row.Point.PPN),
				strconv.FormatInt(row.Point.MsgBytes, 10), alg.String(), loss,
			})
		}
	}
	return out.WriteAll(records)
}
