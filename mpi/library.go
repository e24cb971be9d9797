package mpi

import "tutti/coll"

// Library is one MPI library.
type Library interface {
	Facts() Facts

	// Releases returns the releases that are known, oldest first.
	Releases() []*Catalogue

	// Size is the measure of message size that the library's rules compare.
	Size(p coll.Point) int64

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

	// Judge holds what the processes of a call entered against the candidate that was
	// to run. A stack has the functions of one process, outermost first. The error
	// matches ErrDisobeyed when another algorithm ran; any other error says why that
	// cannot be told.
	Judge(cat *Catalogue, c coll.Candidate, stacks [][]string) error
}

// Facts are what is known of a library whatever its release.
type Facts struct {
	Name  string // in campaign files and in the names of files
	Title string // for people
	Tried string // the release that the tests run; empty for none
	Sight Sight  // how it shows which algorithm it enters

	FromFile bool // selection files are made from the library's own trees
	Guards   bool // an operation that does not commute gets another algorithm where it must, by the files or by the library itself

	Launcher string // the library's own, as campaign files call it
	Srun     bool   // Slurm's srun starts its programs wherever the library was built for that
}
