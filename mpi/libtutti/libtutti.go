package libtutti

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"

	"tutti/coll"
	"tutti/mpi"
)

// Library is libtutti with only its own algorithms, for any MPI library.
var Library = WithLibraries()

type library struct {
	read func() ([]*mpi.Catalogue, map[string]base) // the releases, and the MPI library of each that has one
}

func (*library) Facts() mpi.Facts {
	return mpi.Facts{
		Name: "libtutti", Title: "libtutti", Family: "mpich",
		Files:       []string{tableName, snippetName, mpi.CshName(snippetName)},
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

// Recognise implements mpi.Library. The file of an MPI library is never the file of libtutti.
func (*library) Recognise([]byte) string { return "" }

func (*library) Size(p coll.Point) int64 { return size(p) }

// size returns the bytes that libtutti counts for a benchmark's call at a point. It is the part of one rank
// if coll.Collective.PerRank is true, otherwise the whole message. The blocks of a reduce_scatter are
// assumed to be equal. If ranks pass different sizes, it is 0, because one algorithm must serve all sizes.
func size(p coll.Point) int64 {
	if !p.Collective.Sized() || p.Collective.SizesDiffer() {
		return 0
	}
	count := p.Count()
	switch p.Collective {
	case coll.ReduceScatter, coll.ReduceScatterBlock:
		if ranks := int64(p.Ranks()); count > 0 {
			count = max(1, count/ranks) * ranks
		}
	}
	return count * p.Collective.ElementBytes()
}

// algorithms is the table of libtutti's algorithms. It has values of segsize only for algorithms that are faster if
// long messages are cut into segments.
//
//go:embed algorithms.csv
var algorithms string

var releases = mpi.Table(algorithms, mpi.Rules{Lookup: checkParameters, Check: checkPoint, Ranges: parameterRanges})

// parameterValues holds the values that campaigns measure for the parameters of users' algorithms. The unit of
// segsize is bytes. The value of "barriers" is the number of barriers in one call. The other parameters are numbers
// of ranks.
var parameterValues = map[string][]string{
	"segsize":  {"", "8192", "32768", "131072"},
	"radix":    {"", "3", "8"},
	"window":   {"", "2", "4", "16"},
	"barriers": {"", "1", "4"},
}

// parameterRanges limits the parameter values that campaigns add to the listed values, close to those that were
// fast. With segments below a kilobyte, latency dominates.
var parameterRanges = []coll.Range{
	{Parameter: "segsize", Low: 1 << 10, High: 1 << 20}, {Parameter: "radix", Low: 2, High: 64},
	{Parameter: "window", Low: 1, High: 64}, {Parameter: "barriers", Low: 1, High: 1 << 10},
}

// mostBytes limits the size of a message that libtutti serves, in bytes. If a collective's message size counts
// only one rank's part, the sum over all ranks is limited. See csource/runtime/serve.c.
const mostBytes = math.MaxInt32 / 2

// mostGathered is the largest total size of all ranks' vectors, in bytes, that the allreduce algorithm named
// allgather serves; see csource/runtime/repository.h.
const mostGathered = 64 << 20

// checkPoint returns an error if libtutti cannot serve a call: an empty or very long message, segments that are
// not shorter than the message, or a radix, window or number of barriers that is too large for the number of
// ranks.
func checkPoint(_ *mpi.Catalogue, c coll.Candidate) error {
	if c.Collective.Sized() && c.Point.Count() == 0 {
		return fmt.Errorf("%v: %w: empty messages are left to the MPI library", c, mpi.ErrInfeasible)
	}
	bytes := size(c.Point)
	if c.Collective.PerRank() {
		bytes *= int64(c.Ranks())
	}
	if bytes > mostBytes {
		return fmt.Errorf("%v: %w: messages of 1 GiB or more are left to the MPI library", c, mpi.ErrInfeasible)
	}
	if c.Collective == coll.Allreduce && c.Algorithm.Name == "allgather" && bytes*int64(c.Ranks()) > mostGathered {
		return fmt.Errorf("%v: %w: the vectors of all ranks exceed 64 MiB", c, mpi.ErrInfeasible)
	}
	for _, p := range c.Algorithm.Params() {
		n, err := strconv.ParseInt(p.Value, 10, 64)
		switch {
		case err != nil: // a word, as other libraries have
		case p.Name == "segsize" && n >= c.MsgBytes:
			return fmt.Errorf("%v: %w: one segment holds the message", c, mpi.ErrInfeasible)
		case (p.Name == "radix" || p.Name == "window") && n > int64(c.Ranks()):
			return fmt.Errorf("%v: %w: there are fewer ranks", c, mpi.ErrInfeasible)
		case p.Name == "barriers" && n > int64(c.Ranks())-2:
			return fmt.Errorf("%v: %w: there are fewer pauses between rounds", c, mpi.ErrInfeasible)
		}
	}
	return nil
}

func checkParameters(c *mpi.Catalogue, collective coll.Collective, _ mpi.Entry, alg coll.Algorithm) error {
	for _, p := range alg.Params() {
		if !isNumber(p.Value) {
			return fmt.Errorf("%s %s %s %s: %s: %w: want a number from 1 on", c.Library, c.Version, collective, alg, p.Name, mpi.ErrUnknown)
		}
	}
	return nil
}

func isNumber(value string) bool {
	n, err := strconv.ParseInt(value, 10, 32)
	return err == nil && n > 0 && strconv.FormatInt(n, 10) == value
}
