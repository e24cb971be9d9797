package mpi

import (
	"fmt"

	"tutti/coll"
)

// Var is an environment variable. If File is not nil, the value is the path of a file with
// that content, which the caller writes.
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

// Forcing makes a library use one algorithm for one collective: by settings at the start of
// a program, or by MPI_T control variables while it runs. tutti's own library, which is
// loaded before MPI's, takes the algorithm's name instead.
//
// Switches act on every call of the collective, including calls of the measuring program
// for itself, which should use other collectives.
type Forcing struct {
	Env      []Var          // for a program that measures this candidate alone
	Base     []Var          // for a program that measures every candidate with the same Base
	Switches []Switch       // set in such a program before the calls; they undo the switches of other candidates
	NewComm  bool           // switches act only on communicators created afterwards
	Own      coll.Algorithm `json:",omitzero"` // algorithm that tutti's own library runs
	Parts    bool           `json:",omitzero"` // the algorithm is composed of others, and an error stack may show one of these alone
}

// Force returns how a release of a library is made to run the candidate. The library's
// default needs no setting. The error matches ErrUnknown or ErrInfeasible.
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
