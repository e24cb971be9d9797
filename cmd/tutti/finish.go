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
	"slices"
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
	results []campaign.Result
	state   *store.State
}

// taught are the final models of the problems of a campaign, in their order; those
// without a measurement have none.
type taught []*campaign.Trained

// train trains the final models of every problem, side by side.
func train(ctx context.Context, b *built, results []campaign.Result) (taught, error) {
	all := make(taught, len(b.problems))
	var group errgroup.Group
	group.SetLimit(b.workers())
	for i, p := range b.problems {
		if results[i].Ledger == nil || len(results[i].Ledger.Measurements()) == 0 {
			continue
		}
		group.Go(func() (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			all[i], err = campaign.Train(b.spec, p, results[i])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(all, func(t *campaign.Trained) bool { return t != nil }) {
		return nil, nothingToReport(results)
	}
	return all, nil
}

// conclude trains the final models and fits what the libraries can be told. What the
// journal condemned is left to the default.
func conclude(ctx context.Context, b *built, results []campaign.Result, state *store.State) (*conclusions, error) {
	all, err := train(ctx, b, results)
	if err != nil {
		return nil, err
	}
	return all.conclude(b, results, state)
}

func (all taught) conclude(b *built, results []campaign.Result, state *store.State) (*conclusions, error) {
	c := &conclusions{built: b, state: state}
	for i, p := range b.problems {
		if all[i] == nil {
			continue
		}
		t, err := newTarget(b.libraryOf(p), b.config.Export)
		if err != nil {
			return nil, err
		}
		entries, err := verify.Entries(state.Verification(p.Library))
		if err != nil {
			return nil, withCode(codeInput, err)
		}
		part, err := all[i].Conclude(verify.CondemnedBy(entries, p.Collective), t.fit)
		if err != nil {
			return nil, err
		}
		c.parts, c.of, c.results = append(c.parts, part), append(c.of, p), append(c.results, results[i])
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

// export writes the selection files of every library, checked by replaying them, but
// of those that were written already.
func (c *conclusions) export(dir string, written []report.LibraryFacts) ([]report.LibraryFacts, error) {
	var out []report.LibraryFacts
	for _, lib := range c.built.config.Libraries {
		if i := slices.IndexFunc(written, func(f report.LibraryFacts) bool { return f.Library == lib.Name }); i >= 0 {
			out = append(out, written[i])
			continue
		}
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
	var err error
	if f.Problems, err = c.problems(); err != nil {
		return f, err
	}
	var names []string
	for _, lib := range cfg.Libraries {
		names = append(names, lib.Name)
	}
	return f, withCode(codeInput, report.AddJournal(&f, c.state, names, cfg.Attempts))
}

// problems gathers what the report shows of the problems, side by side.
func (c *conclusions) problems() ([]report.ProblemFacts, error) {
	out := make([]report.ProblemFacts, len(c.parts))
	var group errgroup.Group
	group.SetLimit(c.built.workers())
	for i, part := range c.parts {
		group.Go(func() (err error) {
			out[i], err = report.ProblemOf(c.of[i], c.results[i], part)
			return err
		})
	}
	return out, group.Wait()
}

// writeAll writes every file of the campaign's folder but the journal and the
// selection files of libraries that were written already.
func (c *conclusions) writeAll(dir string, written ...report.LibraryFacts) (report.Facts, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return report.Facts{}, err
	}
	libraries, err := c.export(dir, written)
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
