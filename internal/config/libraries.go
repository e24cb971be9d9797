package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tutti/mpi/libraries"
)

// readLibraries reads the list of builds; each needs a version of the catalogue.
func readLibraries(c *Campaign, v any) error {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return fmt.Errorf("want a list of libraries, each with name and version")
	}
	var faults faultList
	for i, item := range list {
		lib, err := toLibrary(item)
		if err == nil && slices.ContainsFunc(c.Libraries, func(o Library) bool { return o.Name == lib.Name }) {
			err = fmt.Errorf("%s is given twice: want one build of a library in a campaign", lib.Name)
		}
		if err != nil {
			faults.add(fmt.Sprintf("[%d]", i), err)
		}
		c.Libraries = append(c.Libraries, lib)
	}
	return faults.err()
}

func toLibrary(item any) (Library, error) {
	m, ok := item.(map[string]any)
	if !ok {
		return Library{}, fmt.Errorf("want name, version and perhaps path")
	}
	var lib Library
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if err := lib.set(key, m[key]); err != nil {
			return lib, err
		}
	}
	if lib.Name == "" || lib.Version == "" {
		return lib, fmt.Errorf("%s %s: want name and version", cmp.Or(lib.Name, "no name"), cmp.Or(lib.Version, "without a version"))
	}
	if _, _, err := libraries.Release(lib.Name, lib.Version); err != nil {
		return lib, err
	}
	return lib, nil
}

// set reads one key of a library.
func (lib *Library) set(key string, v any) error {
	switch key {
	case "env":
		return setWords(&lib.Env, key, v, isVariable)
	case "launcher_args":
		return setWords(&lib.LauncherArgs, key, v, isPrintable)
	}
	keys := []struct {
		name  string
		at    *string
		check func(string) error
	}{
		{"name", &lib.Name, anything},
		{"version", &lib.Version, anything},
		{"path", &lib.Path, isPrintable},
		{"benchmark", &lib.Benchmark, isPrintable},
		{"launcher", &lib.Launcher, oneOf(Launchers()...)},
		{"launcher_path", &lib.LauncherPath, isPrintable},
		{"pmi", &lib.PMI, oneOf("pmi2", "pmix")},
	}
	names := []string{}
	for _, k := range keys {
		if k.name != key {
			names = append(names, k.name)
			continue
		}
		s, ok := v.(string)
		if !ok {
			return fmt.Errorf("%s: %v: want text in quotes", key, v)
		}
		if err := k.check(s); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		*k.at = s
		return nil
	}
	return fmt.Errorf("unknown key %q: want %s, launcher_args, env", key, strings.Join(names, ", "))
}

// setWords reads a list of text below a library.
func setWords(at *[]string, key string, v any, check func(string) error) error {
	given, err := list(v)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	for i, item := range given {
		s, ok := item.(string)
		if !ok {
			return fmt.Errorf("%s[%d]: %v: want text", key, i, item)
		}
		if err := check(s); err != nil {
			return fmt.Errorf("%s[%d]: %w", key, i, err)
		}
		*at = append(*at, s)
	}
	return nil
}

// Launchers returns the programs that start parallel programs: Slurm's srun, the
// mpiexec.hydra of MPICH, the mpirun of Open MPI.
func Launchers() []string { return []string{"srun", "hydra", "mpirun"} }

// Programs returns the benchmark programs.
func Programs() []string { return []string{"native", "osu", "reprompi", "imb"} }

// DefaultLauncher is the launcher that works with a library wherever it was built
// for it: srun in Slurm, since the library's own may be missing on the nodes, but for
// libraries that srun starts with a matching plugin only.
func (r Runner) DefaultLauncher(library string) string {
	if lib, ok := libraries.Named(library); ok {
		if own := lib.Facts().Launcher; r.Kind == Local || !own.Srun {
			return own.Kind
		}
	}
	return "srun"
}
