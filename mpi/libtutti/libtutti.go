package libtutti

import (
	_ "embed"

	"tutti/coll"
	"tutti/mpi"
)

// Library is libtutti with its own algorithms, for any MPI library.
var Library = WithLibraries()

type library struct {
	bases    map[string]base // by release
	releases func() []*mpi.Catalogue
}

// Facts implements mpi.Library.
func (*library) Facts() mpi.Facts {
	return mpi.Facts{
		Name: "libtutti", Title: "libtutti", Family: "mpich",
		Files:       []string{tableName, snippetName},
		Preload:     true,
		Observation: mpi.ByReport,
		Guards:      true,                                                              // calls that an algorithm cannot serve go to the MPI library
		Launcher:    mpi.Launcher{Kind: "hydra", Program: "mpiexec.hydra", Srun: true}, // or the launcher of another MPI library
		Install:     mpi.Install{Compilers: []string{"mpicc"}},
	}
}

// Releases implements mpi.Library. The name of a release is the version of the table, and the MPI
// library where its algorithms are candidates, too.
func (l *library) Releases() []*mpi.Catalogue { return l.releases() }

// Recognise implements mpi.Library: no file of an MPI library is libtutti.
func (*library) Recognise() mpi.Recogniser { return nil }

// Size implements mpi.Library.
func (*library) Size(p coll.Point) int64 { return size(p) }

// size returns the bytes of a benchmark's call at a point as libtutti counts them: the part of one
// rank where coll.Collective.PerRank says so, else the whole message. Blocks of reduce_scatter are
// equal. Ranks of an alltoallv have different sizes, so that one algorithm serves all of them.
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
