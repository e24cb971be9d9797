package mpi

import (
	"fmt"

	"tutti/coll"
)

// Var is a variable of the environment. When File is not nil the value is the path
// of a file with that content, which whoever starts the program writes.
type Var struct {
	Name  string
	Value string
	File  []byte
}

// Switch is an integer MPI_T control variable and its value.
type Switch struct {
	Name  string
	Value int
}

// Forcing makes a library use one algorithm for one collective: by settings at the
// start of a program, or by MPI_T control variables while it runs.
//
// An algorithm of tutti's own library needs neither: the library, loaded before MPI's, is
// told its name.
//
// Switches act on every call of the collective, those of the program that measures
// included: what it calls for itself is better made of other calls.
type Forcing struct {
	Env      []Var          // at the start of a program that serves this candidate alone
	Base     []Var          // at the start of a program that serves every candidate with the same Base
	Switches []Switch       // inside such a program, before the calls; all that a neighbour may have changed is set back
	NewComm  bool           // switches act on communicators made afterwards only
	Own      coll.Algorithm `json:",omitzero"` // that tutti's own library inside such a program is told to run
	Parts    bool           `json:",omitzero"` // the algorithm is made of others: an error inside it may name one of those alone
}

// Force returns how a release of a library is made to run the candidate. The
// library's default is the library as shipped: no setting at all. The error matches
// ErrUnknown or ErrInfeasible.
func Force(l Library, cat *Catalogue, c coll.Candidate) (Forcing, error) {
	if err := cat.Check(c); err != nil {
		return Forcing{}, err
	}
	m, ok := l.(Measurable)
	if !ok {
		return Forcing{}, fmt.Errorf("%s %s: %w: no way to force an algorithm", cat.Library, cat.Version, ErrUnknown)
	}
	return m.Force(cat, c)
}
