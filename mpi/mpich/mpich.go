package mpich

import "tutti/mpi"

// Library is MPICH.
var Library mpi.Measurable = library{}

type library struct{}

// Facts implements mpi.Library.
func (library) Facts() mpi.Facts {
	return mpi.Facts{
		Name: "mpich", Title: "MPICH", Tried: "4.0.2", Sight: mpi.ByStack,
		FromFile: true, Guards: true,
		Launcher: "hydra", Srun: true,
	}
}

// Releases implements mpi.Library.
func (library) Releases() []*mpi.Catalogue { return releases() }
