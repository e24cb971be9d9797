package export

import (
	"fmt"
	"os"
	"path/filepath"

	"tutti/coll"
	"tutti/internal/config"
	"tutti/mpi"
	"tutti/selection"
	"tutti/selection/table"
)

// Target is a release with what it is told.
type Target struct {
	build
	measured config.Library
	parts    []part // by collective
	left     int
}

// part is one collective.
type part struct {
	Concluded
	rows []selection.Row // what the release can be told
	plan selection.Plan
}

// For fits what a release can be told of the conclusions.
func (c *Conclusions) For(r Release) (*Target, error) {
	t := &Target{build: buildOf(r.library, c.campaign.Config.Export, r.port, r.cat), measured: r.measured}
	for _, p := range c.Problems {
		if p.Library != r.library.Name {
			continue
		}
		here := part{Concluded: p}
		var left int
		here.rows, left = t.cat.Portable(p.Rows, t.measured.Version, t.export.MaxLoss)
		t.left += left
		if !p.Left {
			var err error
			if here.plan, err = t.plan(here.rows); err != nil {
				return nil, fmt.Errorf("selection for %s %s: %w", r.library.Name, r.library.Version, err)
			}
		}
		t.parts = append(t.parts, here)
	}
	return t, nil
}

// Selecting returns conclusions that select what the releases do.
func (c *Conclusions) Selecting(releases []*Target) *Conclusions {
	out := &Conclusions{campaign: c.campaign, state: c.state}
	for _, t := range releases {
		for _, p := range t.parts {
			own := p.Concluded
			if t.library.Version != t.measured.Version {
				own.Selection.Choose = func(point coll.Point) coll.Algorithm {
					alg, _ := p.plan.Select(point)
					return alg
				}
			}
			out.Problems = append(out.Problems, own)
		}
	}
	return out
}

// Document returns what the releases select as a table for scripts.
func (c *Conclusions) Document(releases []*Target) table.Document {
	doc := table.Document{Campaign: c.campaign.Config.Name, Machine: c.campaign.Config.Machine}
	for _, t := range releases {
		lib := table.Library{
			Library: t.library.Name, Version: t.library.Version, Measured: t.measured.Version,
			Left: t.left, Collectives: []table.Collective{},
		}
		for _, p := range t.parts {
			if len(p.rows) > 0 {
				lib.Collectives = append(lib.Collectives, table.NewCollective(p.Rows, p.plan, t.port.Size))
			}
		}
		doc.Libraries = append(doc.Libraries, lib)
	}
	return doc
}

// Write puts the selection files into a folder. It returns what they say and where the
// list of algorithms comes from.
func (t *Target) Write(dir string) (x mpi.Export, origin string, err error) {
	var rows []selection.Row
	for _, p := range t.parts {
		if !p.Left {
			rows = append(rows, p.rows...)
		}
	}
	if x, err = t.write(dir, rows); err != nil {
		err = fmt.Errorf("selection files of %s %s: %w", t.library.Name, t.library.Version, err)
	}
	return x, t.origin(), err
}

// Told says what a release is told.
type Told struct {
	Library  string `json:"library"`
	Version  string `json:"version"`
	Measured string `json:"measured_version"`
	Origin   string `json:"origin,omitempty"` // where the list of algorithms comes from; of rules
	Points   int    `json:"points"`
	Left     int    `json:"left"`  // points left to the library: the release lacks what is fast there
	Tried    bool   `json:"tried"` // files for this release were tried with the real library
}

// Told returns what the release is told.
func (t *Target) Told() Told {
	out := Told{Library: t.library.Name, Version: t.library.Version, Measured: t.measured.Version, Left: t.left, Tried: t.tried()}
	for _, p := range t.parts {
		out.Points += len(p.rows)
	}
	return out
}

// tried reports whether tests run files of this release with the real library.
func (t *Target) tried() bool { return t.port.Facts().Tried == t.library.Version }

// moduleDir is for module use.
const moduleDir = "modulefiles"

// WriteModule says the settings of an export as an environment module below a folder,
// and returns its path. The error matches selection.ErrSetup when no module can say
// them.
func (t *Target) WriteModule(dir string, setup selection.Setup, campaign string) (string, error) {
	if !t.tried() && len(setup.Remarks) == 0 {
		setup.Remarks = []string{fmt.Sprintf("Replayed at every tuned point, but not tried on a real %s %s.", t.library.Name, t.library.Version)}
	}
	module, err := setup.Module(fmt.Sprintf("algorithms of collectives for %s %s, tuned by the campaign %s", t.library.Name, t.library.Version, campaign))
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, moduleDir, "tutti-"+t.library.Name, t.library.Version)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return "", err
	}
	return path, selection.WriteFile(path, module)
}
