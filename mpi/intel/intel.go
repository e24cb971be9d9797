package intel

import (
	_ "embed"
	"regexp"

	"tutti/mpi"
)

// Library is Intel MPI. It is tuned from recorded measurements alone.
var Library mpi.Library = library{}

type library struct{}

// Facts implements mpi.Library.
func (library) Facts() mpi.Facts {
	return mpi.Facts{
		Files: []string{snippetName},
		Name:  "intel", Title: "Intel MPI", Family: "mpich",
		Launcher: mpi.Launcher{
			Kind: "hydra", Program: "mpiexec.hydra",
			Title: "Hydra of Intel MPI", Answer: regexp.MustCompile(`Intel\(R\) MPI Library.*?Version ([0-9][0-9A-Za-z.]*)`),
			Srun: true,
		},
		Install: mpi.Install{Compilers: []string{"mpicc", "mpiicx", "mpiicc"}, Homes: []string{"EBROOTIMPI", "I_MPI_ROOT"}},
	}
}

// Releases implements mpi.Library.
func (library) Releases() []*mpi.Catalogue { return releases() }

// table lists algorithms by their documented numbers and words: I_MPI_ADJUST Family
// Environment Variables in the Developer Reference of release 2019 and, for what it
// shares with 5.1.3 and 4.1, theirs
// (intel.com/content/www/us/en/docs/mpi-library/developer-reference-linux/2021-8/i-mpi-adjust-family-environment-variables.html
// is the page of a later release). bcast, barrier, gather, reduce, reduce_scatter and
// scatter come from the references of 4.1 and 5.1.3 and from public code that sets
// them; nobody has compared them with a library of 2019. What an algorithm requires
// of a call is largely unknown. Collectives without a row are not tuned.
//
//go:embed algorithms.csv
var table string

var releases = mpi.Table(table, mpi.Rules{})
