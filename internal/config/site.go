package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tutti/mpi/libraries"
)

// site lays the profile that the campaign names below the campaign file: what the file
// and the layers above it do not say is as the profile says. Paths of the profile are
// relative to its folder, dir is that of the campaign file.
func (l *loader) site(dir string) {
	path, ok := l.v.Get("site").(string)
	if !ok || path == "" {
		return // what is no text is told where the key is read
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		l.fault("site", err)
		return
	}
	s := newLoader(path)
	if s.read(content) {
		s.checkSite()
		for _, key := range s.v.AllKeys() {
			if l.v.IsSet(key) || !ofSite(key) {
				continue
			}
			l.v.SetDefault(key, s.sitePath(key, s.v.Get(key)))
			l.where[key] = s.where[key]
		}
		l.siteLibraries(s)
	}
	l.faults = append(l.faults, s.faults...)
}

// ofSite reports whether a key of campaign files may stand in a profile: those about how
// benchmarks are run.
func ofSite(key string) bool {
	if key == "machine" {
		return true
	}
	return slices.ContainsFunc(fields(), func(f field) bool {
		section, _, _ := strings.Cut(key, ".")
		return f.key == key && (section == "runner" || section == "slurm") && (serves(key, Local) || serves(key, SlurmJobs))
	})
}

// checkSite notes what has no place in a profile. Values are checked where the campaign
// reads them, those of libraries here.
func (l *loader) checkSite() {
	for _, key := range slices.Sorted(slices.Values(l.v.AllKeys())) {
		if !ofSite(key) && !strings.HasPrefix(key, "libraries") {
			l.fault(key, errors.New("no key of a site profile: want machine, libraries, or one below runner or slurm for campaigns that measure"))
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
			err := new(Library).set(key, keys[key])
			if key == "name" {
				err = errors.New("is the key above")
			}
			if err != nil {
				l.fault("libraries."+name+"."+key, err)
			}
		}
	}
}

// siteLibraries gives the libraries of the campaign the keys that only the profile has.
func (l *loader) siteLibraries(s *loader) {
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

// sitePath makes a path of a profile absolute; other values stay as they are.
func (l *loader) sitePath(key string, value any) any {
	path, ok := value.(string)
	isPath := slices.Contains([]string{"path", "benchmark", "launcher_path", "slurm.bin", "runner.topology"}, key)
	if !ok || !isPath || path == "" || filepath.IsAbs(path) {
		return value
	}
	return filepath.Join(filepath.Dir(l.path), path)
}
