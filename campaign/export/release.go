package export

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tutti/campaign/assembly"
	"tutti/internal/config"
	"tutti/internal/lazyregexp"
	"tutti/mpi"
	"tutti/mpi/libraries"
)

// Release is a release of a library for which selection files are written. It may differ from the release
// that was measured.
type Release struct {
	library  config.Library // for which files are written
	measured config.Library // library of the campaign
	port     mpi.Library
	cat      *mpi.Catalogue
}

var versionForm = lazyregexp.New(`^[0-9]+(\.[0-9A-Za-z]+)*$`)

// Releases parses texts of the form LIBRARY[=VERSION[:PATH]]. Each library may occur once. If `given` is
// empty, it returns the releases that the campaign measured.
func Releases(c *assembly.Campaign, given []string) ([]Release, error) {
	var out []Release
	if len(given) == 0 {
		given = c.Config.LibraryNames()
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
		return Release{}, fmt.Errorf("the campaign is for %s", strings.Join(c.Config.LibraryNames(), ", "))
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
		lib.Path, lib.Site = cmp.Or(path, measured.Path), measured.Site
	}
	port, cat, err := lib.Release()
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

// Measured returns the name of the measured library in the campaign.
func (r Release) Measured() string { return r.measured.Name }

func fromFiles() []string {
	var out []string
	for _, l := range libraries.All() {
		if f := l.Facts(); f.FromFile {
			out = append(out, f.Name)
		}
	}
	return out
}
