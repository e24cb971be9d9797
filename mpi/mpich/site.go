package mpich

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

//go:embed site.csv
var siteText string

var siteTable = mpi.NewSiteTable(siteText, func(c coll.Collective) string { return strings.ToUpper(string(c)) })

const cvarPrefix = "MPIR_CVAR_"

// prefixes of the environment variables that set a control variable. A later one counts more (maint/extractcvars).
var prefixes = []string{"MPICH_", "MPIR_PARAM_", cvarPrefix}

// Settings implements mpi.Measurable. MPICH has no files of parameters, so the environment has all settings.
func (library) Settings(environ []string, _ string) []mpi.SiteSetting {
	var found []mpi.SiteSetting
	for _, prefix := range slices.Backward(prefixes) {
		for _, v := range environ {
			name, value, _ := strings.Cut(v, "=")
			cvar, ok := strings.CutPrefix(name, prefix)
			if ok && !slices.ContainsFunc(found, func(s mpi.SiteSetting) bool { return s.Name == cvar }) {
				source := mpi.FromEnvironment
				if prefix != cvarPrefix {
					source += " as " + name
				}
				found = append(found, mpi.SiteSetting{Name: cvar, Value: value, Source: source})
			}
		}
	}
	out := siteTable.Select(found)
	for i, s := range out {
		out[i].Name = cvarPrefix + s.Name
	}
	return out
}

// staysOn reports whether a setting is on while algorithms are forced. A forced algorithm outranks the site's trees,
// and algorithms that call others for a part of the work find these others in the trees, as in exported files.
func staysOn(s mpi.SiteSetting) bool { return s.Effect == mpi.SelectsByFile }

// onSite returns the library with the trees that users of the site get: those of the site's files, and the algorithms
// that settings pin. The errors match mpi.ErrSite.
func (lib libraryTree) onSite(cat *mpi.Catalogue) (libraryTree, error) {
	if cat.Site == nil {
		return lib, nil
	}
	var err error
	for _, f := range []struct {
		variable string
		tree     *treeObject
	}{{flatFile, &lib.Tree}, {deviceFile, &lib.Device}} {
		if s, ok := cat.Site.Value(f.variable); ok {
			if *f.tree, err = siteTree(s, *f.tree, lib); err != nil {
				return lib, fmt.Errorf("%w: %v: %w", mpi.ErrSite, s, err)
			}
		}
	}
	for _, c := range coll.Collectives() {
		if lib, err = lib.pinned(cat, c); err != nil {
			return lib, fmt.Errorf("%w: %w", mpi.ErrSite, err)
		}
	}
	return lib, nil
}

// siteTree returns the tree in the site's file. Collectives that the file does not have come from the library's own
// tree, except in the device's tree, where MPICH takes them as handed on.
func siteTree(s mpi.SiteSetting, own treeObject, lib libraryTree) (treeObject, error) {
	tree, err := parseTree(s.Content)
	if err != nil {
		return nil, err
	}
	if s.Name == deviceFile && len(tree) == 0 {
		return nil, nil
	}
	for _, m := range tree {
		if !strings.HasPrefix(m.Key, collectiveKey) {
			return nil, fmt.Errorf("%s at its top: tuned rules can only be joined with a tree that begins with %s", m.Key, collectiveKey)
		}
	}
	for _, m := range own {
		if _, ok := tree.Get(m.Key); !ok {
			tree = append(tree, m)
		}
	}
	return tree, check(tree, own, lib)
}

// pinned returns the library with the algorithm and the composition that the site's settings pin for a collective.
func (lib libraryTree) pinned(cat *mpi.Catalogue, c coll.Collective) (libraryTree, error) {
	x := &exporter{build: build{lib, cat}, collective: c}
	if s, ok := cat.Site.Value(variables(c) + "INTRA_ALGORITHM"); ok {
		e, err := x.pinnedEntry(s)
		if err != nil {
			return lib, err
		}
		if lib.Tree, err = x.pin(lib.Tree, e); err != nil {
			return lib, fmt.Errorf("%v: %w", s, err)
		}
	}
	x.build.lib, x.device = lib, true
	if _, ok := lib.Device.Get(collectiveKey + string(c)); !ok {
		return lib, nil
	}
	flat, known := handsOn(cat, c)
	var err error
	name, variable := compositionVar(cat, c)
	switch s, ok := cat.Site.Value(name); {
	case known && deviceOff(cat.Site, c):
		lib.Device, err = x.pin(lib.Device, flat)
	case variable && ok:
		e, ok := cat.Find(c, func(e mpi.Entry) bool { return composes(e) && strconv.Itoa(e.ID) == s.Value })
		if !ok {
			return lib, fmt.Errorf("%v: MPICH %s has no such composition of %s: remove the setting", s, cat.Version, c)
		}
		lib.Device, err = x.pin(lib.Device, e)
	}
	return lib, err
}

// deviceOff reports whether the site's settings keep the device from serving a collective.
func deviceOff(s *mpi.Site, c coll.Collective) bool {
	all, _ := s.Value(cvarPrefix + "DEVICE_COLLECTIVES")
	own, ok := s.Value(variables(c) + "DEVICE_COLLECTIVE")
	return all.Value == "none" || all.Value != "all" && ok && own.Value != "1"
}

func (x *exporter) pinnedEntry(s mpi.SiteSetting) (mpi.Entry, error) {
	for _, e := range x.cat.Entries(x.collective) {
		switch {
		case e.Name != s.Value || composes(e):
		case len(e.Params) > 0:
			return e, fmt.Errorf("%v: a file cannot express its parameters: remove the setting while tutti tunes %s", s, x.collective)
		default:
			return e, nil
		}
	}
	return mpi.Entry{}, fmt.Errorf("%v: MPICH %s has no such algorithm of %s: remove the setting", s, x.cat.Version, x.collective)
}

// pin returns a tree in which an algorithm serves all calls of the collective that it can serve. The tree's own subtree
// serves the others, as with MPICH's control variables.
func (x *exporter) pin(tree treeObject, e mpi.Entry) (treeObject, error) {
	intra, put, err := x.branch()
	if err != nil {
		return nil, err
	}
	leaf := treeObject{{leafKey + e.Function, nil}}
	if x.device {
		leaf = treeObject{{compositionKey + e.Function, nil}}
	}
	under := withInclusiveLimits(intra, true)
	apart, inPlaceAsked := intra.Get(apartKey)
	if inPlaceAsked {
		under = withInclusiveLimits(apart, false)
	}
	out, unguarded, err := guard(x.collective, e, leaf, func() (treeObject, error) { return under, nil })
	unguarded = slices.DeleteFunc(unguarded, func(r mpi.Requirement) bool { return r == mpi.NotInPlace && inPlaceAsked })
	if err == nil && len(unguarded) > 0 {
		err = errors.New("a file has no condition for its requirements: remove the setting")
	}
	if inPlaceAsked {
		out = intra.With(apartKey, out)
	}
	return tree.With(collectiveKey+string(x.collective), put(out)), err
}

// siteSettings returns the settings that keep those of the site from outranking the exported files.
// `tuned` has the tuned collectives, and `off` those that run without the device.
func (b build) siteSettings(tuned, off []coll.Collective) []mpi.Setting {
	var out []mpi.Setting
	set := func(name, value string) {
		if !slices.ContainsFunc(out, func(o mpi.Setting) bool { return o.Name == name }) {
			out = append(out, mpi.Setting{Name: name, Value: value})
		}
	}
	for _, c := range tuned {
		set(variables(c)+"INTRA_ALGORITHM", "auto")
		device := "1"
		if slices.Contains(off, c) {
			device = "0"
		}
		set(variables(c)+"DEVICE_COLLECTIVE", device)
		if name, ok := compositionVar(b.cat, c); ok {
			set(name, "0")
		}
	}
	if len(tuned) > 0 {
		set(cvarPrefix+"DEVICE_COLLECTIVES", "percoll")
	}
	if all, _ := b.cat.Site.Value(cvarPrefix + "DEVICE_COLLECTIVES"); all.Value == "none" {
		for _, c := range coll.Collectives() {
			set(variables(c)+"DEVICE_COLLECTIVE", "0")
		}
	}
	for _, s := range b.cat.Site.On(mpi.TurnsOn) {
		set(s.Name, s.Neutral)
	}
	return out
}
