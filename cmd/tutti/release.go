package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/selection"
	"tutti/selection/table"
)

// release is one library to export for: the build of the campaign, or another
// release of it.
type release struct {
	library  config.Library // to write for
	measured config.Library // of the campaign
	port     mpi.Library
	cat      *mpi.Catalogue
}

var versionForm = regexp.MustCompile(`^[0-9]+(\.[0-9A-Za-z]+)*$`)

// chosenReleases reads LIBRARY[=VERSION[:PATH]]; the libraries of the campaign
// when nothing is given.
func chosenReleases(b *built, given []string) ([]release, error) {
	var out []release
	if len(given) == 0 {
		for _, lib := range b.config.Libraries {
			given = append(given, lib.Name)
		}
	}
	for _, text := range given {
		r, err := chosenRelease(b, text)
		if err != nil {
			return nil, fmt.Errorf("--for %s: %w", text, err)
		}
		if slices.ContainsFunc(out, func(o release) bool { return o.library.Name == r.library.Name }) {
			return nil, fmt.Errorf("--for %s: %s is given twice: want one release of a library in a folder", text, r.library.Name)
		}
		out = append(out, r)
	}
	return out, nil
}

func chosenRelease(b *built, text string) (release, error) {
	name, rest, given := strings.Cut(text, "=")
	version, path, withPath := strings.Cut(rest, ":")
	at := slices.IndexFunc(b.config.Libraries, func(l config.Library) bool { return l.Name == name })
	switch {
	case at < 0:
		var known []string
		for _, lib := range b.config.Libraries {
			known = append(known, lib.Name)
		}
		return release{}, fmt.Errorf("the campaign is for %s", strings.Join(known, ", "))
	case given && !versionForm.MatchString(version):
		return release{}, fmt.Errorf("version %q: want one like 4.2.3", version)
	case withPath && !slices.Contains(fromFiles(), name):
		return release{}, fmt.Errorf("a path is for %s alone, whose files are made from the library's own tree", strings.Join(fromFiles(), ", "))
	case withPath && path == "":
		return release{}, errors.New("the path is empty")
	}
	measured := b.config.Libraries[at]
	lib := config.Library{Name: name, Version: cmp.Or(version, measured.Version), Path: path}
	if lib.Version == measured.Version {
		lib.Path = cmp.Or(path, measured.Path)
	}
	port, cat, err := libraries.Near(lib.Name, lib.Version)
	if err != nil {
		return release{}, err
	}
	if lib.Path == "" {
		if _, err := port.Open(cat, ""); err != nil {
			return release{}, fmt.Errorf("%w, as in --for %s=%s:PATH", err, name, lib.Version)
		}
	}
	return release{lib, measured, port, cat}, nil
}

// fromFiles are the libraries whose selection files are made from their own trees.
func fromFiles() []string {
	var out []string
	for _, l := range libraries.All() {
		if f := l.Facts(); f.FromFile {
			out = append(out, f.Name)
		}
	}
	return out
}

// exportTarget is a release with what it is told.
type exportTarget struct {
	target
	measured config.Library
	parts    []exportPart // by collective
	left     int
}

type exportPart struct {
	of         campaign.Problem
	conclusion campaign.Conclusion
	rows       []selection.Row // what the release can be told
	plan       selection.Plan
}

func newExportTarget(r release, done *conclusions) (exportTarget, error) {
	t := exportTarget{target: targetOf(r.library, done.built.config.Export, r.port, r.cat), measured: r.measured}
	for i, p := range done.of {
		if p.Library != r.library.Name {
			continue
		}
		part := exportPart{of: p, conclusion: done.parts[i]}
		var left int
		part.rows, left = t.cat.Portable(part.conclusion.Rows, t.measured.Version, t.export.MaxLoss)
		t.left += left
		if !part.conclusion.Left {
			var err error
			if part.plan, err = t.plan(part.rows); err != nil {
				return t, err
			}
		}
		t.parts = append(t.parts, part)
	}
	return t, nil
}

// write puts the selection files into a folder.
func (t exportTarget) write(dir string) (mpi.Export, error) {
	var rows []selection.Row
	for _, p := range t.parts {
		if !p.conclusion.Left {
			rows = append(rows, p.rows...)
		}
	}
	return t.target.write(dir, rows)
}

// addTo adds what the release selects to conclusions that are written as a table.
func (t exportTarget) addTo(all *conclusions) {
	for _, p := range t.parts {
		c := p.conclusion
		if t.library.Version != t.measured.Version {
			c.Selection.Choose = func(point coll.Point) coll.Algorithm {
				alg, _ := p.plan.Select(point)
				return alg
			}
		}
		all.of, all.parts = append(all.of, p.of), append(all.parts, c)
	}
}

func (t exportTarget) table() table.Library {
	out := table.Library{
		Library: t.library.Name, Version: t.library.Version, Measured: t.measured.Version,
		Left: t.left, Collectives: []table.Collective{},
	}
	for _, p := range t.parts {
		if len(p.rows) > 0 {
			out.Collectives = append(out.Collectives, table.NewCollective(p.conclusion.Rows, p.plan, t.port.Size))
		}
	}
	return out
}

func (t exportTarget) facts() exportedTarget {
	f := exportedTarget{Library: t.library.Name, Version: t.library.Version, Measured: t.measured.Version, Left: t.left, Tried: t.tried()}
	for _, p := range t.parts {
		f.Points += len(p.rows)
	}
	return f
}

// tried reports whether tests run files of this release with the real library.
func (t exportTarget) tried() bool { return t.port.Facts().Tried == t.library.Version }

// moduleDir is for module use.
const moduleDir = "modulefiles"

// writeModule says the settings as an environment module, and returns its path. The
// error matches selection.ErrSetup when no module can say them.
func (t exportTarget) writeModule(dir string, setup selection.Setup, campaign string) (string, error) {
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
