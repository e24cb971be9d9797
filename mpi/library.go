package mpi

import (
	"context"
	"regexp"

	"tutti/coll"
)

// Library is one MPI library.
type Library interface {
	Facts() Facts

	// Releases returns the releases that are known, oldest first.
	Releases() []*Catalogue

	// Size is the measure of message size that the library's rules compare.
	Size(p coll.Point) int64

	// Recognise returns what tells the library's file from others; nil where the file
	// does not say whose it is.
	Recognise() Recogniser

	// Open returns the build of a release that selection files are made for. path is
	// the library's own file where its trees are needed (Facts.FromFile) and not known,
	// or are to be those of that file; else it is empty.
	Open(cat *Catalogue, path string) (Build, error)
}

// Measurable is a Library whose algorithms can be forced, so that it can be
// measured. The others are tuned from recorded measurements alone.
type Measurable interface {
	Library

	// Force returns how a release is made to run a candidate that its catalogue
	// accepts. The error matches ErrUnknown or ErrInfeasible.
	Force(cat *Catalogue, c coll.Candidate) (Forcing, error)

	// Obeyed holds what the ranks of a call entered against the candidate that was
	// to run. A stack has the functions of one rank, outermost first. The error
	// matches ErrDisobeyed when another algorithm ran; any other error says why that
	// cannot be told.
	Obeyed(cat *Catalogue, c coll.Candidate, stacks [][]string) error

	// Inspect asks an installed build what it has, and holds it against what is known of
	// the nearest release.
	Inspect(ctx context.Context, b Installed) Inspection
}

// Facts are what is known of a library whatever its release.
type Facts struct {
	Name   string // in campaign files and in the names of files
	Title  string // for people
	Family string // Name of the library whose launchers and tools serve it: its own, unless it is a relative
	Tried  string // the release that the tests run; empty for none
	Sight  Sight  // how it shows which algorithm it enters

	Preload bool // it is a file that programs load before the MPI library's

	Files    []string // patterns (see path.Match) of what an export may hold
	FromFile bool     // selection files are made from the library's own trees
	Guards   bool     // an operation that does not commute gets another algorithm where it must, by the files or by the library itself

	Launcher Launcher
	Install  Install
}

// Launcher is the library's own program that starts parallel programs.
type Launcher struct {
	Kind    string         // as campaign files call it
	Program string         // its usual name
	Names   []string       // names that say whose it is
	Title   string         // for people
	Answer  *regexp.Regexp // what it says to --version; the group is its release
	Env     []string       // NAME=VALUE that it needs for a few ranks on any machine, one core included
	RootEnv []string       // what it needs beside that when root starts it

	Srun bool     // Slurm's srun starts programs of the library, too, wherever it was built for that
	PMI  []string // srun's plugins that may do it, the likeliest first
}

// Install says how a library is installed and found.
type Install struct {
	Compilers []string // names of its compiler wrappers, one of its own first where it has one
	Homes     []string // variables of modules that name its folder
	Tool      string   // a program that is there even where nothing can be built; empty for none
	Runtime   string   // Debian's package of its launcher; empty for none
	Headers   string   // Debian's package of what programs are built with; empty for none
}
