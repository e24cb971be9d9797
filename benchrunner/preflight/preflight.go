// Package preflight is a benchrunner.Program that measures nothing. One launch of it reads which settings of an MPI
// library are on in a campaign's launches, wherever they come from: the environment of tutti, modules, set-up lines,
// arguments of the launcher, parameter files.
//
//	p := &preflight.Program{Benchmark: "/scratch/me/tutti-native", Library: lib.Facts(), Native: true}
//	... // run one case with a live machine
//	found, ok := p.Findings()
//	settings := lib.Settings(found.Environ, found.Listing)
//
// The launch runs a shell script, so that it needs no compiler and works with every benchmark program.
package preflight

import (
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"tutti/benchrunner"
	"tutti/mpi"
)

//go:embed preflight.sh
var script []byte

const (
	scriptName = "preflight.sh"
	begin      = "tutti-preflight begin"
	end        = "tutti-preflight end"
)

// Allowance is the time limit of the launch. The tool ompi_info takes a few seconds on a busy machine.
const allowance = time.Minute

// Program reads the settings of one library. It is safe for concurrent use.
type Program struct {
	Benchmark string // benchmark program of the campaign
	Library   mpi.Facts
	Native    bool // the benchmark program is tutti's own, which can list control variables of MPI_T

	mu    sync.Mutex
	found *Findings
}

var _ benchrunner.Program = (*Program)(nil)

// Findings is what a launch found.
type Findings struct {
	Environ []string // of the first rank, as NAME=VALUE
	Listing string   // for mpi.Measurable.Settings
	File    string   // of the MPI library that the benchmark program loads; empty when unknown
	Dir     string   // the working directory of the ranks
}

// Findings returns what the last launch found. It returns false if there is nothing.
func (p *Program) Findings() (Findings, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found == nil {
		return Findings{}, false
	}
	return *p.found, true
}

// Name returns preflight.
func (*Program) Name() string { return "preflight" }

// Group gives each case a launch of its own.
func (*Program) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	return slices.Collect(slices.Chunk(cases, 1))
}

// Allowance implements benchrunner.Program.
func (*Program) Allowance(benchrunner.Launch) time.Duration { return allowance }

// Command implements benchrunner.Program.
func (p *Program) Command(s benchrunner.Launch) (benchrunner.Command, error) {
	control := ""
	if p.Native {
		control = p.Library.Control
	}
	return benchrunner.Command{
		Args:  slices.Concat([]string{"/bin/sh", path.Join(s.Dir, scriptName), p.Benchmark, control}, p.Library.Lister),
		Env:   s.Cases[0].Base,
		Files: map[string][]byte{scriptName: script},
	}, nil
}

// Read implements benchrunner.Program. The case is done if the output is complete.
func (p *Program) Read(s benchrunner.Launch, out benchrunner.Output) benchrunner.Reading {
	found, complete := parse(out.Lines())
	found.Dir = s.Dir
	if complete {
		p.mu.Lock()
		p.found = &found
		p.mu.Unlock()
	}
	return benchrunner.Reading{Outcomes: benchrunner.Outcomes(s, out, complete, func(benchrunner.Case) (benchrunner.Outcome, bool) {
		o := benchrunner.Outcome{State: benchrunner.OutcomeDone, Seconds: max(out.Wall.Seconds(), 1e-9), CostSeconds: out.Wall.Seconds()}
		if !complete {
			o = benchrunner.Failed(benchrunner.PhaseLaunch, "the settings of the MPI library were not printed")
		}
		return o, complete
	})}
}

func parse(lines []string) (f Findings, complete bool) {
	var listing []string
	for _, line := range lines {
		switch word, rest, _ := strings.Cut(line, " "); {
		case line == begin:
			f, listing = Findings{}, nil
		case line == end:
			complete = true
		case word == "env":
			f.Environ = append(f.Environ, rest)
		case word == "list":
			listing = append(listing, rest)
		case word == "library":
			f.File = rest
		}
	}
	f.Listing = strings.Join(listing, "\n")
	return f, complete
}
