package mpi

import (
	"context"
	"errors"
	"regexp"

	"tutti/coll"
)

// Library is one MPI library.
type Library interface {
	Facts() Facts

	// Releases returns the known releases, oldest first.
	Releases() []*Catalogue

	// Size returns the message size of a point, as the library computes it for its rules.
	Size(p coll.Point) int64

	// Recognise returns the library and the release that the content of a shared library names, such as "MPICH
	// 4.0.2". It returns "" if the file is not of this library.
	Recognise(file []byte) string

	// Open returns the build of a release, which makes its selection files. `path` is the path of the
	// library's file. For some libraries, selection files are made from the trees in this file (Facts.FromFile).
	// The path is needed if tutti does not know these trees; if `path` is empty, Open uses the known ones. If no
	// release of the series is known, the build has the algorithms that the installed library lists.
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

	// Settings returns the settings that take part in the choice of algorithms, by name. `environ` is
	// the environment of a program, as NAME=VALUE. `listing` is the output of Facts.Lister there, and
	// lines "cvar NAME=VALUE" with control variables of MPI_T. It may be empty.
	Settings(environ []string, listing string) []SiteSetting

	// Inspect asks an installed build for its algorithms and compares them with the
	// catalogue of the nearest release.
	Inspect(ctx context.Context, b Installed) Inspection
}

// Facts are the properties of a library that all releases share.
type Facts struct {
	Name           string      // in campaign files and file names
	Title          string      // for people
	Family         string      // Name of the library whose launchers and tools work with it, usually its own
	TestedRelease  string      // release that the tests use; empty for none
	TestedReleases []string    // releases into which "make test-releases" loaded files
	Observation    Observation // how it shows which algorithm runs

	Lister  []string // command that lists its settings with their sources; nil if the environment has all of them
	Control string   // control variables of MPI_T whose names begin with this text are settings, too

	Preload bool // its file is loaded before the MPI library's

	Component string // of the MPI library of its family, whose file programs load, that passes calls to it; usually empty

	Prevents string // what a setting with the effect PreventsTuning does

	Files    []string // patterns (see path.Match) of exported files
	FromFile bool     // selection files are based on the library's own trees
	Bands    int      // most ranges of sizes that its settings can have, if they hold for all sizes of a layout; 0: single sizes can be left to it
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

// Identity identifies one build of an MPI library by the library's file.
type Identity struct {
	Path    string `json:"path"`    // with symbolic links resolved
	Version string `json:"version"` // "MPICH 4.0.2", "Open MPI 4.1.4"; empty if the file does not contain it
	SHA256  string `json:"sha256"`  // hexadecimal
}

// ErrNoVersion is the error for a file that does not look like an MPI library. Compare with errors.Is.
var ErrNoVersion = errors.New("no version of an MPI library in it")

// Installed describes an MPI library that is installed on this machine.
type Installed struct {
	Version string // of the library
	File    string // the shared library that programs load; empty when unknown
	Environ []string
	Tools   Tools
}

// Tools runs the programs of an installation.
type Tools interface {
	// Find returns the path of a program. It first looks next to the library's compilers, then in PATH. It
	// returns "" if there is no such program.
	Find(name string) string

	// Ask runs a program and returns its standard output.
	Ask(ctx context.Context, path string, args ...string) string
}

// UnknownSeries is the remark on a build whose series has no catalogue.
const UnknownSeries = "no release of this series is known: tutti measures the algorithms that the library lists"

// Inspection is what an installed build reports about itself.
type Inspection struct {
	Device string   // communication device, if the build names one
	Checks string   // argument and internal checks: on, off, or empty when unknown
	Build  []string // remarks on the build
	Above  []string // remarks on components that decide before the one that tutti tunes

	Site []SiteSetting // settings that take part in the choice of algorithms

	Catalogue *Catalogue // of the nearest release or, for an unknown series, of the build; nil if Fault is set
	Listed    int        // number of catalogue algorithms that such a build may have
	Absent    []string   // those of them that this build does not have
	Unlisted  []string   // algorithms of the build that the catalogue does not list

	Fault string // why its algorithms are unknown; empty if they are known
	Fix   string // how to fix the fault
}
