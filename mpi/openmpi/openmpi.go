package openmpi

import (
	_ "embed"

	"tutti/mpi"
)

// Library is Open MPI.
var Library mpi.Measurable = library{}

type library struct{}

// tried is the release that the tests run.
const tried = "4.1.4"

// Facts implements mpi.Library.
func (library) Facts() mpi.Facts {
	return mpi.Facts{Name: "openmpi", Title: "Open MPI", Tried: tried, Sight: mpi.ByTrace, Launcher: "mpirun"}
}

// Releases implements mpi.Library.
func (library) Releases() []*mpi.Catalogue { return releases() }

// table lists the algorithms of the component tuned by the numbers that its rules
// and its control variables have for them. It was taken from the sources of the
// releases named in it and checked by running each algorithm of 4.1.4 on 2 to 8
// processes with 1 to 4096 elements.
//
//go:embed algorithms.csv
var table string

var releases = mpi.Table(table, mpi.Rules{Variants: variants})
