package config

import (
	"fmt"
	"slices"

	"tutti/benchrunner"
	"tutti/mpi"
	"tutti/mpi/libraries"
)

func libraryFields(lib *Library) []field {
	return []field{
		{"name", "the name of a library", nil, choice(&lib.Name, libraries.Names()...)},
		{"version", "a release of it, as 4.0.2", nil, text(&lib.Version, anything)},
		{"path", "libmpich.so or libmpi.so, if it is on this machine", optional, text(&lib.Path, isPrintable)},
		{"benchmark", "program built with the library, or a folder of several", optional, text(&lib.Benchmark, isPrintable)},
		{"launcher", "program that starts parallel programs", optional, choice(&lib.Launcher, benchrunner.LauncherNames()...)},
		{"launcher_path", "path of mpiexec.hydra or mpirun", optional, text(&lib.LauncherPath, isPrintable)},
		{"launcher_args", "further arguments of the launcher, as --cpu-bind=cores", optional, arguments(&lib.LauncherArgs)},
		{"pmi", "process management interface of srun", optional, choice(&lib.PMI, "pmi2", "pmix")},
		{"env", "environment variables of every launch, NAME=VALUE", optional, texts(&lib.Env, 0, isVariable)},
		{"algorithms", "libtutti: shared objects with algorithms of users", optional, texts(&lib.Algorithms, 0, isPrintable)},
	}
}

// Release returns the library and the catalogue of its release on this machine. Errors match mpi.ErrUnknown.
func (l Library) Release() (mpi.Library, *mpi.Catalogue, error) {
	port, cat, err := libraries.Release(l.Name, l.Version, l.Users...)
	if err != nil {
		return nil, nil, err
	}
	return port, cat.OnSite(l.Site), nil
}

// checkLibrary returns an error if the library's version is not a release in the catalogue, or if the same
// library precedes it in the list. A campaign has one build of a library.
func checkLibrary(lib *Library, before []Library) error {
	if _, _, err := libraries.Release(lib.Name, lib.Version); err != nil {
		return err
	}
	if slices.ContainsFunc(before, func(o Library) bool { return o.Name == lib.Name }) {
		return fmt.Errorf("%s is given twice: want one build of a library in a campaign", lib.Name)
	}
	return nil
}
