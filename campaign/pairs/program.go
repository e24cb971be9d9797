package pairs

import (
	"path/filepath"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/mpi"
	"tutti/topology/discover"
)

// What a start measures, as the name of an algorithm: runners know candidates.
const (
	pairs    = "pairs"    // of ranks inside nodes, and of nodes
	examples = "examples" // everything about one pair of each class
	rounds   = "rounds"   // some rounds of nodes
	chosen   = "chosen"   // pairs of nodes that rounds made suspect, and halves of switches
)

// program is tutti's benchmark program with a plan of pairs.
type program struct {
	path  string                   // absolute, as the nodes see it
	plans map[string]discover.Plan // by what a start measures
}

var _ benchrunner.Program = program{}

// Name returns pairs.
func (program) Name() string { return "pairs" }

// Group gives each case a start of its own.
func (program) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	out := make([][]benchrunner.Case, len(cases))
	for i, c := range cases {
		out[i] = []benchrunner.Case{c}
	}
	return out
}

// Times beside those of the stages.
const (
	begin   = 10 * time.Second // from the launch to the first pair, and from the last one to the end
	hang    = 60 * time.Second // of a round; csource/pairs gives it up then
	ofClass = 30 * time.Second // everything about one pair, but for the rows of messages
	stages  = 2                // of a tournament
)

// Allowance is the time of the stages and of the examples, and that of a round that hangs.
func (p program) Allowance(s benchrunner.Launch) time.Duration {
	plan := p.plan(s)
	stage := time.Duration(plan.Seconds * float64(time.Second))
	return begin + hang + stages*stage + time.Duration(len(plan.Classes))*(ofClass+stage)
}

// plan returns that of a start, with its layout.
func (p program) plan(s benchrunner.Launch) discover.Plan {
	plan := p.plans[s.Cases[0].Algorithm.Name]
	plan.Nodes, plan.PPN = s.Layout.Nodes, s.Layout.PPN
	return plan
}

const planName = "pairs.plan"

// Command returns the call of the program with its plan.
func (p program) Command(s benchrunner.Launch) (benchrunner.Command, error) {
	return benchrunner.Command{
		Args:  []string{p.path, filepath.Join(s.Dir, planName)},
		Files: map[string][]byte{planName: p.plan(s).Text()},
	}, nil
}

// Read tells whether a start came to its end. What it measured is read from its folder,
// whatever became of it.
func (program) Read(s benchrunner.Launch, out benchrunner.Output) benchrunner.Reading {
	r, err := discover.ReadOutput(out.Lines())
	if err != nil {
		return benchrunner.Reading{Library: r.Library, Outcomes: benchrunner.FailedAll(s, benchrunner.PhaseLaunch, err.Error())}
	}
	took := 0.0
	for _, stage := range r.Stages {
		took += stage.Seconds
	}
	found := func(benchrunner.Case) (benchrunner.Outcome, bool) {
		return benchrunner.Outcome{State: benchrunner.OutcomeDone, Seconds: max(took, 1e-9), CostSeconds: took}, r.Ended
	}
	return benchrunner.Reading{
		Outcomes: benchrunner.Outcomes(s, out, len(r.Pairs) > 0, found), MeasureSeconds: took, Library: r.Library,
	}
}

// candidate is a start as runners know it.
func candidate(what string, l coll.Layout) coll.Candidate {
	return coll.Candidate{Point: coll.Point{Collective: coll.Barrier, Nodes: l.Nodes, PPN: l.PPN}, Algorithm: coll.Algorithm{Name: what}}
}

// unforced lets the library choose: only messages of pairs are timed.
func unforced(coll.Candidate) (mpi.Forcing, error) { return mpi.Forcing{}, nil }
