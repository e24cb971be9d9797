package forcing

import (
	"fmt"

	"tutti/coll"
	"tutti/coll/catalogue"
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

// Forcing makes a library use one algorithm for one collective.
type Forcing struct {
	Env      []Var    // at the start of a program that serves this candidate alone
	Base     []Var    // at the start of a program that serves every candidate with the same Base
	Switches []Switch // inside such a program, before the calls; all that a neighbour may have changed is set back
	NewComm  bool     // switches act on communicators made afterwards only
}

// Of returns how the release is made to run the candidate. The library's default
// is the library as shipped: no setting at all. The error matches
// catalogue.ErrUnknown or catalogue.ErrInfeasible.
//
// Switches act on every call of the collective, those of the program that
// measures included: what it calls for itself is better made of other calls.
func Of(cat *catalogue.Catalogue, c coll.Candidate) (Forcing, error) {
	if err := cat.Check(c); err != nil {
		return Forcing{}, err
	}
	switch cat.Library {
	case catalogue.MPICH:
		return flatMPICH(cat, c)
	case catalogue.OpenMPI:
		return tunedOpenMPI(cat, c)
	}
	return Forcing{}, fmt.Errorf("%s %s: %w: no way to force an algorithm", cat.Library, cat.Version, catalogue.ErrUnknown)
}
