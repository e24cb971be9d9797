package export

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/selection"
)

// Target is a release of a library with the selections that are exported for it.
type Target struct {
	build
	measured     config.Library
	collectives  []collectiveSelection
	defaultCount int // number of points whose fast algorithm the release does not have
}

// collectiveSelection is the selection of one collective for a release.
type collectiveSelection struct {
	Concluded
	rows []selection.Row // with algorithms that the release has
	sel  selection.Selection
}

// For makes the selections for a release. They contain only algorithms that the release has.
func (c *Conclusions) For(r Release) (*Target, error) {
	t := &Target{build: buildOf(r.library, c.campaign.Config.Export, r.port, r.cat), measured: r.measured}
	verified, err := c.verified(r.library.Name)
	if err != nil {
		return nil, err
	}
	t.unverified = !verified || r.library.Version != r.measured.Version
	t.placement = c.placements(r.measured.Name)
	for _, p := range c.Problems {
		if p.Library != r.library.Name {
			continue
		}
		one := collectiveSelection{Concluded: p}
		var left int
		one.rows, left = t.cat.Portable(p.Rows, t.measured.Version, t.export.MaxLoss)
		t.defaultCount += left
		if !p.AllDefault {
			var err error
			if one.sel, err = t.fit(one.rows); err != nil {
				return nil, fmt.Errorf("selection for %s %s: %w", r.library.Name, r.library.Version, err)
			}
		}
		t.collectives = append(t.collectives, one)
	}
	return t, nil
}

// Selecting returns a copy of the conclusions in which the selections are those of the releases.
func (c *Conclusions) Selecting(releases []*Target) *Conclusions {
	out := &Conclusions{campaign: c.campaign, state: c.state, builds: c.builds, warnings: c.warnings}
	for _, t := range releases {
		for _, p := range t.collectives {
			concluded := p.Concluded
			if t.library.Version != t.measured.Version {
				concluded.Selection.Choose = func(point coll.Point) coll.Algorithm {
					alg, _ := p.sel.Select(point)
					return alg
				}
			}
			out.Problems = append(out.Problems, concluded)
		}
	}
	return out
}

// Document returns the selections of the releases as one document that scripts can read.
func (c *Conclusions) Document(releases []*Target) selection.Document {
	doc := selection.Document{Campaign: c.campaign.Config.Name, Machine: c.campaign.Config.Machine}
	for _, t := range releases {
		lib := selection.LibraryDocument{
			Library: t.library.Name, Version: t.library.Version, Measured: t.measured.Version,
			Left: t.defaultCount, Collectives: []selection.CollectiveDocument{},
		}
		if t.placement.Known() {
			lib.Placement = &t.placement
		}
		for _, p := range t.collectives {
			if len(p.rows) > 0 {
				lib.Collectives = append(lib.Collectives, selection.NewCollectiveDocument(p.Rows, p.sel, t.port.Size))
			}
		}
		doc.Libraries = append(doc.Libraries, lib)
	}
	return doc
}

// Write writes the selection files into a folder. origin says where the list of algorithms comes from.
func (t *Target) Write(dir string) (x mpi.Export, origin string, err error) {
	var rows []selection.Row
	for _, p := range t.collectives {
		if !p.AllDefault {
			rows = append(rows, p.rows...)
		}
	}
	if x, err = t.write(dir, rows); err != nil {
		err = fmt.Errorf("selection files of %s %s: %w", t.library.Name, t.library.Version, err)
	}
	return x, t.origin(), err
}

// Summary says which files were exported for one release of a library, and what they cover.
type Summary struct {
	Library  string `json:"library"`
	Version  string `json:"version"`
	Measured string `json:"measured_version"`
	Origin   string `json:"origin,omitempty"` // source of the list of algorithms
	Points   int    `json:"points"`
	Left     int    `json:"left"`  // points with the library's default because the release does not have the fast algorithm
	Tried    bool   `json:"tried"` // tutti's tests load files into this release
}

// Summary returns the summary of the export for the release. Its field Origin is empty.
func (t *Target) Summary() Summary {
	out := Summary{Library: t.library.Name, Version: t.library.Version, Measured: t.measured.Version, Left: t.defaultCount, Tried: t.tried()}
	for _, p := range t.collectives {
		out.Points += len(p.rows)
	}
	return out
}

// tried reports whether tutti's own tests load selection files into this release of the library.
func (b build) tried() bool {
	f := b.port.Facts()
	return f.Tried == b.library.Version || slices.Contains(f.AlsoTried, b.library.Version)
}

// moduleDir is the folder of environment modules, which users pass to the command "module use".
const moduleDir = "modulefiles"

// WriteModule writes the settings of an export as an environment module below the folder dir. It returns
// the path of the module. The error matches selection.ErrSetup if a module cannot contain these settings.
func (b build) WriteModule(dir string, setup selection.Setup, campaign string) (string, error) {
	onlyOwn := len(setup.Remarks) == len(b.remarks()) // the library adds no remarks
	if !b.tried() && onlyOwn {
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

// Release is a release of a library for which selection files are written. It may differ from the
// measured release.
type Release struct {
	library  config.Library // for which files are written
	measured config.Library // library of the campaign
	port     mpi.Library
	cat      *mpi.Catalogue
}

var versionForm = regexp.MustCompile(`^[0-9]+(\.[0-9A-Za-z]+)*$`)

// Releases parses releases of the form LIBRARY[=VERSION[:PATH]]. Each library may occur once. If given is
// empty, it returns the releases that the campaign measured.
func Releases(c *assembly.Campaign, given []string) ([]Release, error) {
	var out []Release
	if len(given) == 0 {
		for _, lib := range c.Config.Libraries {
			given = append(given, lib.Name)
		}
	}
	for _, text := range given {
		r, err := release(c, text)
		if err != nil {
			return nil, fmt.Errorf("--for %s: %w", text, err)
		}
		if slices.ContainsFunc(out, func(o Release) bool { return o.library.Name == r.library.Name }) {
			return nil, fmt.Errorf("--for %s: %s is given twice: want one release of a library in a folder", text, r.library.Name)
		}
		out = append(out, r)
	}
	return out, nil
}

func release(c *assembly.Campaign, text string) (Release, error) {
	name, rest, given := strings.Cut(text, "=")
	version, path, withPath := strings.Cut(rest, ":")
	at := slices.IndexFunc(c.Config.Libraries, func(l config.Library) bool { return l.Name == name })
	switch {
	case at < 0:
		var known []string
		for _, lib := range c.Config.Libraries {
			known = append(known, lib.Name)
		}
		return Release{}, fmt.Errorf("the campaign is for %s", strings.Join(known, ", "))
	case given && !versionForm.MatchString(version):
		return Release{}, fmt.Errorf("version %q: want one like 4.2.3", version)
	case withPath && !slices.Contains(fromFiles(), name):
		return Release{}, fmt.Errorf("a path is for %s alone, whose files are made from the library's own tree", strings.Join(fromFiles(), ", "))
	case withPath && path == "":
		return Release{}, errors.New("the path is empty")
	}
	measured := c.Config.Libraries[at]
	lib := config.Library{Name: name, Version: cmp.Or(version, measured.Version), Path: path, Users: measured.Users}
	if lib.Version == measured.Version {
		lib.Path = cmp.Or(path, measured.Path)
	}
	port, cat, err := libraries.Release(lib.Name, lib.Version, lib.Users...)
	if err != nil {
		return Release{}, err
	}
	if lib.Path == "" {
		_, err := port.Open(cat, "")
		if err != nil && port.Facts().FromFile {
			err = fmt.Errorf("%w, as in --for %s=%s:PATH", err, name, lib.Version)
		}
		if err != nil {
			return Release{}, err
		}
	}
	return Release{lib, measured, port, cat}, nil
}

// Measured returns the name of the library that the campaign measured.
func (r Release) Measured() string { return r.measured.Name }

// fromFiles returns the names of the libraries whose selection files need a library file, such as the
// installed libmpich.
func fromFiles() []string {
	var out []string
	for _, l := range libraries.All() {
		if f := l.Facts(); f.FromFile {
			out = append(out, f.Name)
		}
	}
	return out
}
