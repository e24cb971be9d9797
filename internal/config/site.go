package config

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tutti/benchrunner/runners"
	"tutti/internal/infile"
	"tutti/mpi/libraries"
)

// addSite reads the site profile and uses its values as defaults. It does not change keys that the file or
// another layer sets. Paths in the profile are relative to the profile's folder. `dir` is the
// folder of the campaign file.
func (l *loader) addSite(dir string) {
	path, ok := l.v.Get("site").(string)
	if !ok || path == "" {
		return // decode reports a value that is not text
	}
	path = absolute(path, dir)
	content, err := infile.Read(path, maxFile)
	if err != nil {
		l.fault("site", err)
		return
	}
	s := newLoader(path)
	if s.read(content) {
		s.checkSite()
		for _, key := range s.v.AllKeys() {
			if l.v.IsSet(key) || !isSiteKey(key) {
				continue
			}
			l.v.SetDefault(key, s.sitePath(key, s.v.Get(key)))
			l.where[key] = s.where[key]
		}
		l.addSiteLibraries(s)
	}
	l.faults = append(l.faults, s.faults...)
}

// isSiteKey reports whether a site profile may set a key of campaign files. A profile may set only keys
// that configure how benchmarks run.
func isSiteKey(key string) bool {
	if key == "machine" {
		return true
	}
	return slices.ContainsFunc(fields(&Campaign{}), func(f field) bool {
		section, _, _ := strings.Cut(key, ".")
		return f.key == key && (section == "runner" || isSection(section)) && slices.ContainsFunc(runners.Names(), func(kind string) bool {
			return !runners.Facts(kind).Recorded && isUsedBy(key, kind)
		})
	})
}

// checkSite reports keys that a profile may not set, and invalid values in its list of libraries. All other
// values are checked later, together with the campaign's.
func (l *loader) checkSite() {
	for _, key := range slices.Sorted(slices.Values(l.v.AllKeys())) {
		if !isSiteKey(key) && !strings.HasPrefix(key, "libraries") {
			l.fault(key, errors.New("no key of a site profile: want machine, libraries, or one below runner, slurm or pbs for campaigns that measure"))
		}
	}
	named, ok := l.v.Get("libraries").(map[string]any)
	if !ok && l.v.IsSet("libraries") {
		l.fault("libraries", errors.New("want a name, as mpich, and below it path, env and the other keys of a library"))
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		keys, ok := named[name].(map[string]any)
		if _, known := libraries.Named(name); !known || !ok {
			l.fault("libraries."+name, errors.New("want the name of a library, as mpich, and below it its keys"))
		}
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			err := readKey(libraryFields(&Library{}), key, keys[key])
			if key == "name" {
				err = errors.New("is the key above")
			}
			if err != nil {
				l.fault("libraries."+name+"."+key, err)
			}
		}
	}
}

// addSiteLibraries completes the campaign's libraries. If a library of the campaign has no value for a key,
// it gets the value from the profile.
func (l *loader) addSiteLibraries(s *loader) {
	list, _ := l.v.Get("libraries").([]any)
	named, _ := s.v.Get("libraries").(map[string]any)
	for _, item := range list {
		own, ok := item.(map[string]any)
		if !ok {
			continue
		}
		site, _ := named[fmt.Sprint(own["name"])].(map[string]any)
		for key, value := range site {
			if _, given := own[key]; !given {
				own[key] = s.sitePath(key, value)
			}
		}
	}
}

// sitePath returns the value of a key of a site profile. If the value is a path, sitePath makes it
// absolute.
func (l *loader) sitePath(key string, value any) any {
	if list, ok := value.([]any); ok && key == "algorithms" {
		for i := range list {
			list[i] = l.sitePath("path", list[i])
		}
	}
	path, ok := value.(string)
	isPath := slices.Contains([]string{"path", "benchmark", "launcher_path", "runner.topology"}, key)
	eachPath(new(runners.Sections), func(_, other string, _ *string) { isPath = isPath || key == other })
	if !ok || !isPath {
		return value
	}
	return absolute(path, filepath.Dir(l.path))
}
