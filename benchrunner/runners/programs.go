package runners

import (
	"slices"

	"tutti/benchrunner"
	"tutti/benchrunner/native"
	"tutti/benchrunner/suites"
)

// Programs returns the kinds of benchmark programs. The first one is the default.
func Programs() []benchrunner.ProgramKind {
	return []benchrunner.ProgramKind{native.Kind(), suites.OSU(), suites.ReproMPI(), suites.IMB(), suites.Own()}
}

// Program returns the kind of benchmark program with the given name, the zero value for an unknown name.
func Program(name string) benchrunner.ProgramKind {
	all := Programs()
	if i := slices.IndexFunc(all, func(k benchrunner.ProgramKind) bool { return k.Name == name }); i >= 0 {
		return all[i]
	}
	return benchrunner.ProgramKind{}
}

// ProgramNames returns the names of all kinds of benchmark programs.
func ProgramNames() []string {
	var out []string
	for _, k := range Programs() {
		out = append(out, k.Name)
	}
	return out
}
