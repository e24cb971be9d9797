package reprompi

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// Options say how the program is called.
type Options struct {
	Path        string // absolute path of mpibenchmark, as the nodes see it
	Repetitions int    // timed calls of each size; 100 when zero
	Summary     bool   // medians only, without an interval
	OneHost     bool   // the nodes of a layout are imagined: all ranks are on this host
}

// Program is ReproMPI as a benchrunner.Program.
type Program struct{ opt Options }

// New checks the options. It does not look for the program: it may be on other
// machines only.
func New(opt Options) (*Program, error) {
	if !path.IsAbs(opt.Path) {
		return nil, fmt.Errorf("reprompi: path %q of mpibenchmark: want an absolute path", opt.Path)
	}
	if opt.Repetitions < 0 {
		return nil, fmt.Errorf("reprompi: %d repetitions: want no negative number", opt.Repetitions)
	}
	if opt.Repetitions == 0 {
		opt.Repetitions = 100
	}
	return &Program{opt: opt}, nil
}

// Name returns reprompi.
func (*Program) Name() string { return "reprompi" }

// calls are ReproMPI's names of the collectives it has.
var calls = map[coll.Collective]string{
	coll.Allgather:          "MPI_Allgather",
	coll.Allreduce:          "MPI_Allreduce",
	coll.Alltoall:           "MPI_Alltoall",
	coll.Barrier:            "MPI_Barrier",
	coll.Bcast:              "MPI_Bcast",
	coll.Exscan:             "MPI_Exscan",
	coll.Gather:             "MPI_Gather",
	coll.Reduce:             "MPI_Reduce",
	coll.ReduceScatter:      "MPI_Reduce_scatter",
	coll.ReduceScatterBlock: "MPI_Reduce_scatter_block",
	coll.Scan:               "MPI_Scan",
	coll.Scatter:            "MPI_Scatter",
}

// Group puts all sizes of a collective and algorithm into one start. A case that
// is there twice gets a start of its own.
func (*Program) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	return benchrunner.Sweeps(cases, benchrunner.Ascending)
}

// Allowance returns the time of all calls and as many barriers at the pace of
// benchrunner.Patience, at least half a minute.
func (p *Program) Allowance(s benchrunner.Start) time.Duration {
	total := time.Duration(0)
	for _, c := range s.Cases {
		total += benchrunner.CallTime(c, p.opt.Repetitions)
	}
	return max(benchrunner.LeastAllowance, total)
}

// Command returns the call of the program for the cases, which must be one of the
// groups of Group. The error says what ReproMPI cannot measure.
func (p *Program) Command(s benchrunner.Start) (benchrunner.Command, error) {
	if len(s.Cases) == 0 {
		return benchrunner.Command{}, fmt.Errorf("reprompi: start without a case")
	}
	first := s.Cases[0]
	sizes := make([]string, len(s.Cases))
	for i, c := range s.Cases {
		size, err := sizeOf(c)
		if err != nil {
			return benchrunner.Command{}, err
		}
		if i > 0 && !benchrunner.Ascending(s.Cases[i-1], c) {
			return benchrunner.Command{}, fmt.Errorf("reprompi: %v cannot follow %v in one start", c.Candidate, s.Cases[i-1].Candidate)
		}
		sizes[i] = strconv.FormatInt(size, 10)
	}
	args := []string{p.opt.Path, "--calls-list=" + calls[first.Collective], "--msizes-list=" + strings.Join(sizes, ","),
		"--nrep=" + strconv.Itoa(p.opt.Repetitions)}
	if first.Collective.Reduces() {
		args = append(args, "--datatype=MPI_FLOAT", "--operation=MPI_SUM")
	}
	if p.opt.Summary {
		args = append(args, "--summary=median")
	}
	return benchrunner.Placed(s.Dir, benchrunner.Command{Args: args, Env: first.Env}), nil
}

// sizeOf returns what ReproMPI calls the size of a case.
func sizeOf(c benchrunner.Case) (int64, error) {
	element, size := c.Collective.ElementBytes(), c.MsgBytes
	switch {
	case calls[c.Collective] == "":
		return 0, fmt.Errorf("reprompi: %v: ReproMPI has no call for %s", c.Candidate, c.Collective)
	case !c.Collective.Sized():
		return 1, nil // the list of sizes must not be empty
	case c.Collective == coll.ReduceScatter || c.Collective == coll.ReduceScatterBlock:
		if size%int64(c.Ranks()) != 0 {
			return 0, fmt.Errorf("reprompi: %v: ReproMPI measures equal parts: %d bytes for %d ranks", c.Candidate, size, c.Ranks())
		}
		size /= int64(c.Ranks())
	}
	switch {
	case size < element:
		return 0, fmt.Errorf("reprompi: %v: ReproMPI begins at %d bytes", c.Candidate, element)
	case size%element != 0:
		return 0, fmt.Errorf("reprompi: %v: ReproMPI measures whole elements of %d bytes", c.Candidate, element)
	}
	return size, nil
}
