package libtutti

import (
	_ "embed"

	"tutti/coll"
	"tutti/mpi"
)

// Library is libtutti with only its own algorithms, for any MPI library.
var Library = WithLibraries()

type library struct {
	read func() ([]*mpi.Catalogue, map[string]base) // the releases, and the MPI library of each that has one
}

// Facts implements mpi.Library.
func (*library) Facts() mpi.Facts {
	return mpi.Facts{
		Name: "libtutti", Title: "libtutti", Family: "mpich",
		Files:       []string{tableName, snippetName},
		Preload:     true,
		Observation: mpi.ByReport,
		Launcher:    mpi.Launcher{Kind: "hydra", Program: "mpiexec.hydra", Srun: true}, // or the launcher of another MPI library
		Install:     mpi.Install{Compilers: []string{"mpicc"}},
	}
}

// Releases implements mpi.Library. The name of a release is the version of the table format. It also names
// the MPI library, if that library's algorithms are candidates, too.
func (l *library) Releases() []*mpi.Catalogue {
	all, _ := l.read()
	return all
}

// Recognise implements mpi.Library. The file of an MPI library never is that of libtutti.
func (*library) Recognise([]byte) string { return "" }

// Size implements mpi.Library.
func (*library) Size(p coll.Point) int64 { return size(p) }

// size returns the bytes that libtutti counts for a benchmark's call at a point. It is the part of one rank
// if coll.Collective.PerRank is true, otherwise the whole message. The blocks of a reduce_scatter are
// assumed to be equal. For alltoallv it is 0, because ranks have different sizes and one algorithm must
// serve all sizes.
func size(p coll.Point) int64 {
	count := p.Count()
	switch p.Collective {
	case coll.Alltoallv, coll.Barrier:
		return 0
	case coll.ReduceScatter, coll.ReduceScatterBlock:
		if ranks := int64(p.Ranks()); count > 0 {
			count = max(1, count/ranks) * ranks
		}
	}
	return count * p.Collective.ElementBytes()
}

//go:embed algorithms.csv
var algorithms string

var releases = mpi.Table(algorithms, mpi.Rules{Lookup: checkParameters, Check: checkPoint, Variants: variants, Ranges: rangesOf})
