package mvapich

import (
	_ "embed"

	"tutti/mpi"
)

// Library is MVAPICH2. It is tuned from recorded measurements alone.
var Library mpi.Library = library{}

type library struct{}

// Facts implements mpi.Library.
func (library) Facts() mpi.Facts {
	return mpi.Facts{
		Files: []string{snippetName},
		Name:  "mvapich2", Title: "MVAPICH2", Family: "mpich",
		Guards:   true, // src/mpi/coll asks for the operation before the tables
		Launcher: mpi.Launcher{Kind: "hydra", Program: "mpiexec.hydra", Srun: true},
		Install:  mpi.Install{Compilers: []string{"mpicc"}, Homes: []string{"EBROOTMVAPICH2", "MVAPICH2_HOME"}},
	}
}

// Releases implements mpi.Library.
func (library) Releases() []*mpi.Catalogue { return releases() }

// Recognise implements mpi.Library: the file does not say whose it is.
func (library) Recognise() mpi.Recogniser { return nil }

// table lists algorithms by the comments and enumerations of src/mpi/coll/*_tuning.h
// and .c of release 2.3. Numbers that a size range cannot name, or that need a second
// variable, are left out. What an algorithm requires of a call is largely unknown.
// Collectives without a row are not tuned.
//
//go:embed algorithms.csv
var table string

var releases = mpi.Table(table, mpi.Rules{})
