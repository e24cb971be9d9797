package pairs

import (
	"path/filepath"
	"slices"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/mpi"
	"tutti/topology/discover"
)

// The kinds of measurements. Each launch makes measurements of one kind. Where runners expect the name of an
// algorithm, they get the kind.
const (
	pairs    = "pairs"    // pairs of ranks inside nodes, and pairs of nodes
	examples = "examples" // PLogP parameters of one pair of each class; for given pairs, a hash of their names is appended
	rounds   = "rounds"   // rounds of disjoint pairs of nodes
	chosen   = "chosen"   // pairs with suspected nodes, and pairs across bisections of switches
)

// program runs tutti's benchmark program with a plan of pairs.
type program struct {
	path     string // absolute path on the nodes
	template discover.Plan
}

var _ benchrunner.Program = program{}

func (program) Name() string { return "pairs" }

// Group puts each case into its own launch.
func (program) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	return slices.Collect(slices.Chunk(cases, 1))
}

// Times from which the method Allowance computes the time limit of a launch.
const (
	begin   = 10 * time.Second // before the first pair and after the last one
	hang    = 60 * time.Second // after this time, csource/pairs gives up a round
	ofClass = 30 * time.Second // measurements of one class of pairs, without its series of message sizes
	slow    = 10               // number of classes that may need this time; others need the time of a stage
	stages  = 2                // number of stages: inside nodes and between nodes
)

// Allowance returns the time limit of a launch. It allows for both stages (pairs inside nodes, pairs of nodes)
// and for the PLogP parameters of the classes of pairs. It also allows for one round that hangs.
func (p program) Allowance(s benchrunner.Launch) time.Duration {
	plan := p.plan(s)
	stage, n := time.Duration(plan.Seconds*float64(time.Second)), plan.ExampleRounds()
	return begin + hang + stages*stage + time.Duration(min(n, slow))*ofClass + time.Duration(n)*stage
}

// plan returns the plan of a launch with the launch's numbers of nodes and of processes.
func (p program) plan(s benchrunner.Launch) discover.Plan {
	plan := p.template
	plan.Nodes, plan.PPN = s.Layout.Nodes, s.Layout.PPN
	return plan
}

const planName = "pairs.plan"

func (p program) Command(s benchrunner.Launch) (benchrunner.Command, error) {
	return benchrunner.Command{
		Args:  []string{p.path, filepath.Join(s.Dir, planName)},
		Files: map[string][]byte{planName: p.plan(s).Text()},
	}, nil
}

// Read reports whether a launch ran to its end. The measurements are read later, by Discovery.Found, from
// the job's folder, even after a failure.
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

func candidate(what string, l coll.Layout) coll.Candidate {
	return coll.Candidate{Point: coll.Point{Collective: coll.Barrier, Nodes: l.Nodes, PPN: l.PPN}, Algorithm: coll.Algorithm{Name: what}}
}

// unforced returns no settings, since the measurements use no collectives.
func unforced(coll.Candidate) (mpi.Forcing, error) { return mpi.Forcing{}, nil }
