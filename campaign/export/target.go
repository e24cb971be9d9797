package export

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"tutti/coll"
	"tutti/internal/config"
	"tutti/mpi"
	"tutti/selection"
)

// Target is a release with the selection that is exported for it.
type Target struct {
	build
	measured config.Library
	parts    []part // by collective
	left     int
}

// part is the selection of one collective.
type part struct {
	Concluded
	rows []selection.Row // rows that the release can be told
	sel  selection.Selection
}

// For fits the conclusions to what a release can be told.
func (c *Conclusions) For(r Release) (*Target, error) {
	t := &Target{build: buildOf(r.library, c.campaign.Config.Export, r.port, r.cat), measured: r.measured}
	verified, err := c.verified(r.library.Name)
	if err != nil {
		return nil, err
	}
	t.unverified = !verified || r.library.Version != r.measured.Version
	t.placed = c.placements(r.measured.Name)
	for _, p := range c.Problems {
		if p.Library != r.library.Name {
			continue
		}
		here := part{Concluded: p}
		var left int
		here.rows, left = t.cat.Portable(p.Rows, t.measured.Version, t.export.MaxLoss)
		t.left += left
		if !p.AllDefault {
			var err error
			if here.sel, err = t.fit(here.rows); err != nil {
				return nil, fmt.Errorf("selection for %s %s: %w", r.library.Name, r.library.Version, err)
			}
		}
		t.parts = append(t.parts, here)
	}
	return t, nil
}

// Selecting returns conclusions with the selections of the releases.
func (c *Conclusions) Selecting(releases []*Target) *Conclusions {
	out := &Conclusions{campaign: c.campaign, state: c.state}
	for _, t := range releases {
		for _, p := range t.parts {
			own := p.Concluded
			if t.library.Version != t.measured.Version {
				own.Selection.Choose = func(point coll.Point) coll.Algorithm {
					alg, _ := p.sel.Select(point)
					return alg
				}
			}
			out.Problems = append(out.Problems, own)
		}
	}
	return out
}

// Document returns the selections of the releases as a table for scripts.
func (c *Conclusions) Document(releases []*Target) selection.Document {
	doc := selection.Document{Campaign: c.campaign.Config.Name, Machine: c.campaign.Config.Machine}
	for _, t := range releases {
		lib := selection.LibraryDocument{
			Library: t.library.Name, Version: t.library.Version, Measured: t.measured.Version,
			Left: t.left, Collectives: []selection.CollectiveDocument{},
		}
		if t.placed.Known() {
			lib.Placement = &t.placed
		}
		for _, p := range t.parts {
			if len(p.rows) > 0 {
				lib.Collectives = append(lib.Collectives, selection.NewCollectiveDocument(p.Rows, p.sel, t.port.Size))
			}
		}
		doc.Libraries = append(doc.Libraries, lib)
	}
	return doc
}

// Write writes the selection files into a folder. It returns the export and the source of the list
// of algorithms.
func (t *Target) Write(dir string) (x mpi.Export, origin string, err error) {
	var rows []selection.Row
	for _, p := range t.parts {
		if !p.AllDefault {
			rows = append(rows, p.rows...)
		}
	}
	if x, err = t.write(dir, rows); err != nil {
		err = fmt.Errorf("selection files of %s %s: %w", t.library.Name, t.library.Version, err)
	}
	return x, t.origin(), err
}

// Summary describes what is exported for a release.
type Summary struct {
	Library  string `json:"library"`
	Version  string `json:"version"`
	Measured string `json:"measured_version"`
	Origin   string `json:"origin,omitempty"` // source of the list of algorithms, for rules
	Points   int    `json:"points"`
	Left     int    `json:"left"`  // points left to the library because the release does not have the fast algorithm
	Tried    bool   `json:"tried"` // files for this release were tried with the real library
}

// Summary describes what is exported for the release.
func (t *Target) Summary() Summary {
	out := Summary{Library: t.library.Name, Version: t.library.Version, Measured: t.measured.Version, Left: t.left, Tried: t.tried()}
	for _, p := range t.parts {
		out.Points += len(p.rows)
	}
	return out
}

// tried reports whether the project's tests load files into this release.
func (b build) tried() bool { return b.port.Facts().Tried == b.library.Version }

// moduleDir is the folder for `module use`.
const moduleDir = "modulefiles"

// WriteModule writes the settings of an export as an environment module below a folder and returns
// its path. The error matches selection.ErrSetup if a module cannot have these settings.
func (b build) WriteModule(dir string, setup selection.Setup, campaign string) (string, error) {
	silent := len(setup.Remarks) == len(b.remarks()) // without remarks of the library itself
	if !b.tried() && silent {
		untried := fmt.Sprintf("Replayed at every tuned point, but not tried on a real %s %s.", b.library.Name, b.library.Version)
		setup.Remarks = slices.Insert(slices.Clone(setup.Remarks), 0, untried)
	}
	module, err := setup.Module(fmt.Sprintf("algorithms of collectives for %s %s, tuned by the campaign %s", b.library.Name, b.library.Version, campaign))
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, moduleDir, "tutti-"+b.library.Name, b.library.Version)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return "", err
	}
	return path, selection.WriteFile(path, module)
}
