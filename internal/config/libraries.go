package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"tutti/mpi/libraries"
)

// libraryList returns the type of the key `libraries`.
func libraryList() value {
	item := objectSchema([]string{"name", "version"}, map[string]schema{
		"name": {"enum": libraryNames()}, "version": {"type": "string"}, "path": {"type": "string"}, "benchmark": {"type": "string"},
		"launcher": {"enum": Launchers()}, "launcher_path": {"type": "string"}, "launcher_args": listSchema(), "pmi": {"enum": pmis()}, "env": listSchema(), "algorithms": listSchema(),
	})
	return value{read: readLibraries, schema: schema{"type": "array", "items": item, "minItems": 1}}
}

func pmis() []string { return []string{"pmi2", "pmix"} }

// libraryNames returns the names of the libraries that can be tuned.
func libraryNames() []string {
	var out []string
	for _, l := range libraries.All() {
		out = append(out, l.Facts().Name)
	}
	return out
}

// readLibraries reads the value of the key libraries. The version of each library must be a release in the
// catalogue.
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

// set sets one key of a library.
func (lib *Library) set(key string, v any) error {
	switch key {
	case "env":
		return setWords(&lib.Env, key, v, isVariable)
	case "launcher_args":
		return setWords(&lib.LauncherArgs, key, v, isPrintable)
	case "algorithms":
		return setWords(&lib.Algorithms, key, v, isPrintable)
	}
	keys := []struct {
		name  string
		value value
	}{
		{"name", text(func(*Campaign) *string { return &lib.Name }, anything)},
		{"version", text(func(*Campaign) *string { return &lib.Version }, anything)},
		{"path", text(func(*Campaign) *string { return &lib.Path }, isPrintable)},
		{"benchmark", text(func(*Campaign) *string { return &lib.Benchmark }, isPrintable)},
		{"launcher", choice(func(*Campaign) *string { return &lib.Launcher }, Launchers()...)},
		{"launcher_path", text(func(*Campaign) *string { return &lib.LauncherPath }, isPrintable)},
		{"pmi", choice(func(*Campaign) *string { return &lib.PMI }, pmis()...)},
	}
	names := []string{"launcher_args", "env", "algorithms"}
	for _, k := range keys {
		if k.name != key {
			names = append(names, k.name)
			continue
		}
		if err := k.value.read(nil, v); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	}
	return fmt.Errorf("unknown key %w", NotOneOf(key, names))
}

// setWords sets a key of a library to a list of texts. It checks each text.
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

// Launchers returns the names of the programs that start parallel programs. The names stand for Slurm's
// srun, MPICH's mpiexec.hydra and Open MPI's mpirun.
func Launchers() []string { return []string{"srun", "hydra", "mpirun"} }

// Programs returns the names of the benchmark programs that tutti can measure with.
func Programs() []string { return []string{"native", "osu", "reprompi", "imb", "own"} }

// DefaultLauncher returns the default launcher of a library. In Slurm this is srun, because the library's
// own launcher may be missing on the nodes. If srun needs a plugin that matches the library, it is the
// library's own launcher.
func (r Runner) DefaultLauncher(library string) string {
	if lib, ok := libraries.Named(library); ok {
		if own := lib.Facts().Launcher; r.Kind == Local || !own.Srun {
			return own.Kind
		}
	}
	return "srun"
}
