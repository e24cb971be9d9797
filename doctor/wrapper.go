package doctor

import (
	"path/filepath"
	"slices"

	"tutti/mpi/libraries"
)

// wrappers returns the names of the compiler wrappers of all libraries, the first of
// each before the others. The wrapper of a Cray is called cc, which is any compiler
// elsewhere.
func wrappers() []string {
	var first, others []string
	for _, l := range libraries.All() {
		names := l.Facts().Install.Compilers
		first, others = append(first, names[0]), append(others, names[1:]...)
	}
	var out []string
	for _, name := range slices.Concat(first, others) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// homes returns the variables of modules that name installations.
func homes() []string {
	out := []string{"MPI_HOME", "MPI_ROOT", "MPI_DIR"}
	for _, l := range libraries.All() {
		out = append(out, l.Facts().Install.Homes...)
	}
	return out
}

// prefixes returns the installations that options and environment name.
func (x *examiner) prefixes() (given, fromModules []string) {
	for _, name := range homes() {
		if p := x.getenv(name); filepath.IsAbs(p) && !slices.Contains(fromModules, p) {
			fromModules = append(fromModules, p)
		}
	}
	for _, p := range x.options.Prefixes {
		if abs, err := filepath.Abs(p); err == nil {
			given = append(given, abs)
		}
	}
	return given, fromModules
}

// findWrappers returns the compiler wrappers: of given prefixes, of modules, of
// the PATH, each once.
func (x *examiner) findWrappers() []string {
	given, fromModules := x.prefixes()
	var dirs []string
	for _, p := range slices.Concat(given, fromModules) {
		dirs = append(dirs, filepath.Join(p, "bin"))
	}
	names := wrappers()
	if x.getenv("CRAYPE_VERSION") != "" || x.getenv("PE_ENV") != "" {
		names = append(names, "cc")
	}
	var out []string
	seen := map[string]bool{}
	for _, dir := range slices.Concat(dirs, x.path()) {
		for _, name := range names {
			path := filepath.Join(dir, name)
			key := filepath.Join(real(dir), name)
			if isProgram(path) && !seen[key] {
				seen[key] = true
				out = append(out, path)
			}
		}
	}
	return out
}
