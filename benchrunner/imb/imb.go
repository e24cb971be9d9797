package imb

import (
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// Options say how the program is called.
type Options struct {
	Path       string // absolute path of IMB-MPI1, as the nodes see it
	Iterations int    // most repetitions of each size; IMB's own 1000 when zero
	OneHost    bool   // the nodes of a layout are imagined: all ranks are on this host
}

// Program is IMB-MPI1 as a benchrunner.Program.
type Program struct{ opt Options }

// New checks the options. It does not look for the program: it may be on other
// machines only.
func New(opt Options) (*Program, error) {
	if !path.IsAbs(opt.Path) {
		return nil, fmt.Errorf("imb: path %q of IMB-MPI1: want an absolute path", opt.Path)
	}
	if opt.Iterations < 0 {
		return nil, fmt.Errorf("imb: %d iterations: want no negative number", opt.Iterations)
	}
	return &Program{opt: opt}, nil
}

// Name returns imb.
func (*Program) Name() string { return "imb" }

// benchmarks are IMB's names of the collectives it has.
var benchmarks = map[coll.Collective]string{
	coll.Allgather:          "Allgather",
	coll.Allgatherv:         "Allgatherv",
	coll.Allreduce:          "Allreduce",
	coll.Alltoall:           "Alltoall",
	coll.Alltoallv:          "Alltoallv",
	coll.Barrier:            "Barrier",
	coll.Bcast:              "Bcast",
	coll.Gather:             "Gather",
	coll.Reduce:             "Reduce",
	coll.ReduceScatter:      "Reduce_scatter",
	coll.ReduceScatterBlock: "Reduce_scatter_block",
	coll.Scatter:            "Scatter",
}

// Group puts all sizes of a collective and algorithm into one start. A case that
// is there twice gets a start of its own.
func (*Program) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	return benchrunner.Sweeps(cases, benchrunner.Ascending)
}

// Allowance returns the time of all calls and as many barriers at the pace of
// benchrunner.Patience, at least half a minute. IMB gives each size 10 s.
func (p *Program) Allowance(s benchrunner.Start) time.Duration {
	const perSize = 10 * time.Second
	repetitions := 1000
	if p.opt.Iterations > 0 {
		repetitions = p.opt.Iterations
	}
	total := time.Duration(0)
	for _, c := range s.Cases {
		total += min(benchrunner.CallTime(c, repetitions), perSize+20*benchrunner.Patience(c.Point))
	}
	return max(benchrunner.LeastAllowance, total)
}

const lengthsName = "lengths"

// Command returns the call of the program for the cases, which must be one of the
// groups of Group. The error says what IMB cannot measure.
func (p *Program) Command(s benchrunner.Start) (benchrunner.Command, error) {
	if len(s.Cases) == 0 {
		return benchrunner.Command{}, fmt.Errorf("imb: start without a case")
	}
	first := s.Cases[0]
	var lengths strings.Builder
	for i, c := range s.Cases {
		if err := check(c); err != nil {
			return benchrunner.Command{}, err
		}
		if i > 0 && !benchrunner.Ascending(s.Cases[i-1], c) {
			return benchrunner.Command{}, fmt.Errorf("imb: %v cannot follow %v in one start", c.Candidate, s.Cases[i-1].Candidate)
		}
		fmt.Fprintln(&lengths, length(c))
	}
	args := []string{p.opt.Path, "-npmin", strconv.Itoa(s.Layout.Ranks())}
	if p.opt.Iterations > 0 {
		args = append(args, "-iter", strconv.Itoa(p.opt.Iterations))
	}
	cmd := benchrunner.Command{Env: first.Env}
	if first.Collective.Sized() {
		args = append(args, "-msglen", filepath.Join(s.Dir, lengthsName))
		cmd.Files = map[string][]byte{lengthsName: []byte(lengths.String())}
	}
	cmd.Args = append(args, benchmarks[first.Collective])
	return benchrunner.Placed(s.Dir, cmd), nil
}

// check reports why IMB cannot measure a case.
func check(c benchrunner.Case) error {
	element := c.Collective.ElementBytes()
	ranks := int64(c.Ranks())
	switch block := c.Collective == coll.ReduceScatterBlock; {
	case benchmarks[c.Collective] == "":
		return fmt.Errorf("imb: %v: IMB has no benchmark of %s", c.Candidate, c.Collective)
	case block && (c.MsgBytes%ranks != 0 || c.MsgBytes/ranks%element != 0):
		return fmt.Errorf("imb: %v: IMB measures equal parts of whole elements of %d bytes: %d bytes for %d ranks", c.Candidate, element, c.MsgBytes, ranks)
	case c.MsgBytes%element != 0:
		return fmt.Errorf("imb: %v: IMB measures whole elements of %d bytes", c.Candidate, element)
	case c.MsgBytes > 1<<31-1:
		return fmt.Errorf("imb: %v: IMB takes lengths up to 2147483647 bytes", c.Candidate)
	}
	return nil
}

// length is what IMB calls the size of a case: of Reduce_scatter_block the part of one
// rank.
func length(c benchrunner.Case) int64 {
	if c.Collective == coll.ReduceScatterBlock {
		return c.MsgBytes / int64(c.Ranks())
	}
	return c.MsgBytes
}
