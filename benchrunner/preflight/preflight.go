// Package preflight is a benchrunner.Program that measures nothing. One launch of it reads which settings of an MPI
// library are on in a campaign's launches, wherever they come from: the environment of tutti, modules, set-up lines,
// arguments of the launcher, parameter files.
//
//	p := &preflight.Program{Benchmark: "/scratch/me/tutti-native", Library: lib, Native: true}
//	... // run one case with a live machine, which gives a trial
//	found, err := preflight.Decode(trial.Answer)
//
// The launch runs a shell script, so that it needs no compiler and works with every benchmark program.
package preflight

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
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
	Library   mpi.Measurable
	Native    bool // the benchmark program is tutti's own, which can list control variables of MPI_T

	Variables []string // names of environment variables whose values are wanted, too
}

var _ benchrunner.Program = (*Program)(nil)

// Findings is what a launch found. It is the answer of its case, as JSON.
type Findings struct {
	Settings []mpi.SiteSetting `json:"settings"` // that take part in the choice of algorithms
	File     string            `json:"file"`     // of the MPI library that the benchmark program loads; empty when unknown
	Dir      string            `json:"dir"`      // the working directory of the ranks

	Variables map[string]string `json:"variables,omitempty"` // those of Program.Variables that the ranks have
	Modules   map[string]string `json:"modules,omitempty"`   // the loaded module that sets a variable of the settings, by variable
	Bare      bool              `json:"bare,omitempty"`      // the ranks do not have the environment of their launch
}

// sentinel is a variable of the launch that its ranks must have. Of its prefix, mpirun passes every variable on.
var sentinel = mpi.Var{Name: "OMPI_TUTTI_PREFLIGHT", Value: "1"}

// Decode returns the findings in an answer.
func Decode(answer string) (f Findings, err error) {
	if err = json.Unmarshal([]byte(answer), &f); err != nil {
		err = fmt.Errorf("settings that a launch found: %w", err)
	}
	return f, err
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
	facts := p.Library.Facts()
	if p.Native {
		control = facts.Control
	}
	return benchrunner.Command{
		Args:  slices.Concat([]string{"/bin/sh", path.Join(s.Dir, scriptName), p.Benchmark, control}, facts.Lister),
		Env:   append(slices.Clone(s.Cases[0].Base), sentinel),
		Files: map[string][]byte{scriptName: script},
	}, nil
}

// Read implements benchrunner.Program. The case is done if the output is complete.
func (p *Program) Read(s benchrunner.Launch, out benchrunner.Output) benchrunner.Reading {
	found, complete := p.parse(out.Lines())
	found.Dir = s.Dir
	answer, err := json.Marshal(found)
	if err != nil {
		panic(err) // texts can be encoded
	}
	return benchrunner.Reading{Outcomes: benchrunner.Outcomes(s, out, complete, func(benchrunner.Case) (benchrunner.Outcome, bool) {
		seconds := out.Wall.Seconds()
		return benchrunner.Outcome{State: benchrunner.OutcomeDone, Seconds: max(seconds, 1e-9), CostSeconds: seconds, Answer: string(answer)}, complete
	})}
}

func (p *Program) parse(lines iter.Seq[string]) (f Findings, complete bool) {
	var environ, listing []string
	f.Modules, f.Variables = map[string]string{}, map[string]string{}
	for line := range lines {
		switch word, rest, _ := strings.Cut(line, " "); {
		case line == begin:
			f, environ, listing = Findings{Modules: map[string]string{}, Variables: map[string]string{}}, nil, nil
		case line == end:
			complete = true
		case word == "env":
			environ = append(environ, rest)
		case word == "list":
			listing = append(listing, rest)
		case word == "library":
			f.File = rest
		case word == "module":
			name, module, _ := strings.Cut(rest, " ")
			if slices.ContainsFunc(environ, func(v string) bool { return strings.HasPrefix(v, name+"=") }) {
				f.Modules[name] = module
			}
		}
	}
	f.Settings = mpi.AllSettings(p.Library, environ, strings.Join(listing, "\n"))
	f.Bare = !slices.Contains(environ, sentinel.Name+"="+sentinel.Value)
	for _, v := range environ {
		if name, value, _ := strings.Cut(v, "="); slices.Contains(p.Variables, name) {
			f.Variables[name] = value
		}
	}
	return f, complete
}
