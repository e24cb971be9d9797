package mpich

import (
	"regexp"

	"tutti/mpi"
)

// Library is MPICH.
var Library mpi.Measurable = library{}

type library struct{}

// Facts implements mpi.Library.
func (library) Facts() mpi.Facts {
	return mpi.Facts{
		Name: "mpich", Title: "MPICH", Family: "mpich", Tried: "4.0.2", AlsoTried: []string{"4.2.1", "5.0.2"}, Observation: mpi.ByStack,
		Files:    []string{flatName, deviceName, snippetName, layoutDir + "/*.json"},
		FromFile: true, Lists: true,
		Launcher: mpi.Launcher{
			Kind: "hydra", Program: "mpiexec.hydra", Names: []string{"mpiexec.hydra", "mpiexec.mpich", "mpirun.mpich"},
			Title: "Hydra", Answer: regexp.MustCompile(`(?s)HYDRA build details:.*?Version:\s+([0-9][0-9A-Za-z.]*)`),
			Srun: true, PMI: []string{"pmi2", "cray_shasta", "pmix"},
		},
		Install: mpi.Install{
			Compilers: []string{"mpicc.mpich", "mpicc", "mpicc_abi"},
			Homes:     []string{"MPICH_DIR", "MPICH_HOME", "MPICH_ROOT", "EBROOTMPICH", "EBROOTPSMPI"},
			Tool:      "mpichversion", Runtime: "mpich", Headers: "libmpich-dev",
		},
	}
}

// Releases implements mpi.Library.
func (library) Releases() []*mpi.Catalogue { return releases() }
