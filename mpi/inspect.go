package mpi

import (
	"context"
	"errors"
)

// Identity identifies one build of an MPI library by the library's file.
type Identity struct {
	Path    string `json:"path"`    // with symbolic links resolved
	Version string `json:"version"` // "MPICH 4.0.2", "Open MPI 4.1.4"; empty if the file does not contain it
	SHA256  string `json:"sha256"`  // hexadecimal
}

// ErrNoVersion is the error for a file that does not look like an MPI library. Compare with errors.Is.
var ErrNoVersion = errors.New("no version of an MPI library in it")

// Installed is an installed build of a library.
type Installed struct {
	Version string // of the library
	File    string // the shared library that programs load; empty when unknown
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

	Catalogue *Catalogue // of the nearest release or, for an unknown series, of the build; nil if Fault is set
	Listed    int        // number of catalogue algorithms that such a build may have
	Absent    []string   // those of them that this build lacks
	Unlisted  []string   // algorithms of the build that the catalogue lacks

	Fault string // why its algorithms are unknown; empty if they are known
	Fix   string // how to fix the fault
}
