package coll

import (
	"fmt"
	"slices"
	"strings"
)

// Collective is the name of an MPI collective operation in lower case, without the prefix MPI_.
type Collective string

// The collectives that tutti knows, on intracommunicators. The names of nonblocking ones begin with "i".
const (
	Allgather          Collective = "allgather"
	Allgatherv         Collective = "allgatherv"
	Allreduce          Collective = "allreduce"
	Alltoall           Collective = "alltoall"
	Alltoallv          Collective = "alltoallv"
	Barrier            Collective = "barrier"
	Bcast              Collective = "bcast"
	Exscan             Collective = "exscan"
	Gather             Collective = "gather"
	Iallgather         Collective = "iallgather"
	Iallreduce         Collective = "iallreduce"
	Ialltoall          Collective = "ialltoall"
	Ibcast             Collective = "ibcast"
	Ireduce            Collective = "ireduce"
	Reduce             Collective = "reduce"
	ReduceScatter      Collective = "reduce_scatter"
	ReduceScatterBlock Collective = "reduce_scatter_block"
	Scan               Collective = "scan"
	Scatter            Collective = "scatter"
)

// Collectives returns every known collective in alphabetical order. The list in C is csource/collectives.
func Collectives() []Collective {
	return []Collective{
		Allgather, Allgatherv, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Exscan,
		Gather, Iallgather, Iallreduce, Ialltoall, Ibcast, Ireduce, Reduce, ReduceScatter, ReduceScatterBlock, Scan, Scatter,
	}
}

// ParseCollective returns the collective with the name s. If there is none, the error lists the allowed
// names.
func ParseCollective(s string) (Collective, error) {
	if c := Collective(s); slices.Contains(Collectives(), c) {
		return c, nil
	}
	return "", fmt.Errorf("unknown collective %q: want one of %s", s, strings.Join(Words(Collectives()), ", "))
}

// Words converts values of a string type to strings.
func Words[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// BlockingCollectives returns the collectives without the nonblocking ones, in alphabetical order.
func BlockingCollectives() []Collective {
	return slices.DeleteFunc(Collectives(), Collective.Nonblocking)
}

// Blocking returns the blocking form of a collective: allreduce for iallreduce.
func (c Collective) Blocking() Collective {
	switch c {
	case Iallgather, Iallreduce, Ialltoall, Ibcast, Ireduce:
		return c[1:]
	}
	return c
}

// Nonblocking reports whether the call returns before it has ended, so that computation can overlap with it.
func (c Collective) Nonblocking() bool { return c.Blocking() != c }

// Reduces reports whether the collective combines values with an operation.
func (c Collective) Reduces() bool {
	switch c.Blocking() {
	case Allreduce, Exscan, Reduce, ReduceScatter, ReduceScatterBlock, Scan:
		return true
	}
	return false
}

// Sized reports whether the collective moves a message. Only a barrier moves none.
func (c Collective) Sized() bool { return c != Barrier }

// PerRank reports whether MsgBytes is the size of one rank's part instead of the whole message. The OSU
// Micro-Benchmarks use the same convention.
func (c Collective) PerRank() bool {
	switch c.Blocking() {
	case Allgather, Allgatherv, Alltoall, Alltoallv, Gather, Scatter:
		return true
	}
	return false
}

// SizesDiffer reports whether a rank knows only the size that it passes, which may differ from those of other ranks.
func (c Collective) SizesDiffer() bool { return c.Blocking() == Alltoallv }

// Synchronizes reports whether every rank enters a call before any rank leaves it.
func (c Collective) Synchronizes() bool {
	switch c.Blocking() {
	case Allgather, Allgatherv, Allreduce, Alltoall, Barrier, ReduceScatter, ReduceScatterBlock:
		return true
	}
	return false
}

// ElementBytes returns the size of the datatype that the benchmarks use. It is 4 bytes (MPI_FLOAT or
// MPI_INT) for reductions and 1 byte (MPI_CHAR) otherwise, as in the OSU Micro-Benchmarks.
func (c Collective) ElementBytes() int64 {
	if c.Reduces() {
		return 4
	}
	return 1
}
