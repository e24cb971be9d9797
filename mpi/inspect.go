package mpi

import "context"

// Installed is a build on this machine.
type Installed struct {
	Version string // of the library
	File    string // of the library that programs load; empty when that is not known
	Tools   Tools
}

// Tools are the programs of an installation.
type Tools interface {
	// Find returns the path of a program beside the library's compilers, else on the
	// PATH; empty when there is none.
	Find(name string) string

	// Ask runs a program and returns what it printed.
	Ask(ctx context.Context, path string, args ...string) string
}

// Inspection is what an installed build tells of itself.
type Inspection struct {
	Device string   // that moves its messages, where it names one
	Checks string   // of arguments and of itself: on, off, or empty when unknown
	Build  []string // remarks on the build
	Rivals []string // remarks on what decides before that which tutti tunes

	Catalogue *Catalogue // of the nearest release; nil where Fault says why there is none
	Listed    int        // algorithms of the catalogue that such a build may have
	Absent    []string   // those of them that this one has not
	Unlisted  []string   // algorithms of the build that the catalogue has not

	Fault string // why nothing is known of its algorithms; empty where it is
	Cure  string // of the fault
}
