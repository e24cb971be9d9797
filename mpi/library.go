package mpi

import (
	"context"
	"regexp"

	"tutti/coll"
)

// Library is one MPI library.
type Library interface {
	Facts() Facts

	// Releases returns the known releases, oldest first.
	Releases() []*Catalogue

	// Size returns the message size of a point, in the unit that the library's rules compare.
	Size(p coll.Point) int64

	// Recognise returns the library and the release that the content of a shared library names, such as "MPICH
	// 4.0.2". It returns "" if the file is not of this library.
	Recognise(file []byte) string

	// Open returns the build for a release, which makes selection files. The parameter `path` is the path of
	// the library's file. For some libraries, selection files are made from the library's own trees
	// (Facts.FromFile). The path is needed if tutti does not know the trees of the release. If path is
	// empty, Open uses the known trees. The build of an unknown series has the algorithms that the installed
	// library lists.
	Open(cat *Catalogue, path string) (Build, error)
}

// Measurable is a library whose algorithms can be forced and therefore measured. Other libraries are tuned
// from recorded measurements.
type Measurable interface {
	Library

	// Force returns the settings with which a release runs a candidate. The catalogue must accept the
	// candidate. If the candidate cannot be forced, the error matches ErrUnknown or ErrInfeasible.
	Force(cat *Catalogue, c coll.Candidate) (Forcing, error)

	// CheckAlgorithm compares the requested candidate with the functions that the ranks of a call entered.
	// Each stack lists the functions of one rank, outermost first. The error matches ErrOtherAlgorithm if
	// another algorithm ran. Any other error says why the algorithm is not observable.
	CheckAlgorithm(cat *Catalogue, c coll.Candidate, stacks [][]string) error

	// Inspect asks an installed build for its algorithms and compares them with the
	// catalogue of the nearest release.
	Inspect(ctx context.Context, b Installed) Inspection
}

// Facts are the properties of a library that all releases share.
type Facts struct {
	Name        string      // in campaign files and file names
	Title       string      // for people
	Family      string      // Name of the library whose launchers and tools work with it, usually its own
	Tried       string      // release that the tests use; empty for none
	AlsoTried   []string    // releases into which "make test-releases" loaded files
	Observation Observation // how it shows which algorithm runs

	Preload bool // its file is loaded before the MPI library's

	Files    []string // patterns (see path.Match) of exported files
	FromFile bool     // selection files are based on the library's own trees
	Lists    bool     // an installed build lists its algorithms; series without a catalogue can be tuned

	Launcher Launcher
	Install  Install
}

// Launcher is the library's own program that starts parallel programs.
type Launcher struct {
	Kind    string         // name in campaign files
	Program string         // its usual name
	Names   []string       // names that identify the library
	Title   string         // for people
	Answer  *regexp.Regexp // answer to --version; the group is the release
	Env     []string       // NAME=VALUE, needed for a few ranks on any machine, even with one core
	RootEnv []string       // further variables when root starts it

	Srun bool     // Slurm's srun can start programs of the library, if it was built for that
	PMI  []string // srun's plugins that may work, the most likely first
}

// Install describes how a library is installed and how tutti finds it.
type Install struct {
	Compilers []string // its compiler wrappers, preferably one that only it has
	Homes     []string // variables of modules that name its folder
	Tool      string   // a program that exists even without compilers; empty for none
	Runtime   string   // Debian package of its launcher; empty for none
	Headers   string   // Debian package needed to build programs; empty for none
}
