package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/csource"
	"tutti/mpi"
)

// BuildProbe compiles the probe with the library's own compiler wrapper (mpicc) and
// puts it into a folder that every node sees. It returns its path.
func BuildProbe(ctx context.Context, compiler, dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	built, err := csource.Build(ctx, csource.Probe, compiler, filepath.Join(dir, csource.Probe.Name))
	return built.Path, err
}

// Probe is a program for a live runner that shows which algorithm the library enters
// with its files loaded. A case ends well when it is the one that the files select;
// its time means nothing.
//
// A library may name the functions it was in when a message was longer than the
// receiver said, or the dynamic loader tells which algorithms it calls for the first
// time.
type Probe struct {
	Path      string // of the program that BuildProbe made
	Library   mpi.Measurable
	Catalogue *mpi.Catalogue
	Choose    func(coll.Point) coll.Algorithm // what the files select; set again when they change
}

var _ benchrunner.Program = (*Probe)(nil)

// Name is "probe".
func (p *Probe) Name() string { return "probe" }

// Group gives each case a start of its own: messages that nobody took would disturb
// the next one.
func (p *Probe) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	var out [][]benchrunner.Case
	for i := range cases {
		out = append(out, cases[i:i+1:i+1])
	}
	return out
}

// Allowance is more than the program allows itself.
func (p *Probe) Allowance(benchrunner.Launch) time.Duration { return 30 * time.Second }

// Command runs the program with the settings of the case.
func (p *Probe) Command(s benchrunner.Launch) (benchrunner.Command, error) {
	if len(s.Cases) != 1 {
		return benchrunner.Command{}, fmt.Errorf("a probe serves one case, not %d", len(s.Cases))
	}
	c := s.Cases[0]
	return benchrunner.Command{
		Args: []string{p.Path, string(p.Library.Facts().Sight), string(c.Collective), strconv.FormatInt(c.MsgBytes, 10)},
		Env:  c.Env,
	}, nil
}

// Read compares what the library entered with what it was to.
func (p *Probe) Read(s benchrunner.Launch, out benchrunner.Output) benchrunner.Reading {
	var r benchrunner.Reading
	for _, c := range s.Cases {
		o := benchrunner.Outcome{State: benchrunner.OutcomeDone, Seconds: max(out.Wall.Seconds(), 1e-9), CostSeconds: out.Wall.Seconds()}
		if err := p.compare(c.Point, out); err != nil {
			o.State, o.Phase, o.Error, o.Seconds = benchrunner.OutcomeFailed, "run", err.Error(), 0
		}
		r.Outcomes = append(r.Outcomes, o)
	}
	return r
}

// compare is nil for obedience; the error is for sightOf to read.
func (p *Probe) compare(at coll.Point, out benchrunner.Output) error {
	c := coll.Candidate{Point: at, Algorithm: p.Choose(at)}
	if _, err := p.Catalogue.Lookup(c.Collective, c.Algorithm); err != nil {
		return err
	}
	stacks, why := readStacks(out.Lines())
	if len(stacks) == 0 {
		return errors.New(cmp.Or(why, "nothing was printed: "+cmp.Or(out.LastMessage(), "no output")))
	}
	return p.Library.Obeyed(p.Catalogue, c, stacks)
}

// readStacks returns what each process entered, or why nothing could be seen.
func readStacks(lines []string) (stacks [][]string, why string) {
	for _, line := range lines {
		if names, ok := strings.CutPrefix(line, "saw "); ok {
			stacks = append(stacks, strings.Fields(names))
		}
		if reason, ok := strings.CutPrefix(line, "unseen "); ok && why == "" {
			why = reason
		}
	}
	return stacks, why
}
