package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/hpo"
	"tutti/journal"
	"tutti/metrics"
	"tutti/verify"
)

// syntheticFacts returns the facts of a synthetic campaign. Every library has every collective. A problem
// has `nodes` x `sizes` x `ppns` points.
func syntheticFacts(libraries, collectives []string, nodes, sizes, ppns int) Facts {
	f := Facts{
		Tutti: "v0.1.0", Campaign: "autumn", Machine: "hilltop", Seed: 7, Method: "fact", Scaling: "algorithm",
		Criteria: Criteria{Slowdown: 1.03, Mistakes: 0.05, MistakeThreshold: 0.1, Patience: 3},
		Versions: []Version{{"go", "go1.26.0"}, {"gonum", "v0.17.0"}},
		Warnings: []string{"1 node was drained during the campaign"},
	}
	for i, library := range libraries {
		f.Libraries = append(f.Libraries, LibraryFacts{
			Library: library, Version: "4.2", Origin: "catalogue",
			Files: []string{library + ".json", library + ".env"}, Replayed: nodes * sizes * ppns * len(collectives),
			Benefit: &Benefit{NodeSeconds: 7200, Saved: 0.08 - 0.1*float64(i), Workload: "geometric mean of the points", CollectiveShare: 0.25},
		})
		if b := f.Libraries[i].Benefit; b.Saved > 0 {
			after := b.NodeSeconds / b.Saved
			b.BreakEven = &after
		}
		for j, collective := range collectives {
			r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
			p := syntheticProblem(r, nodes, sizes, ppns)
			p.Library, p.Collective = library, collective
			if (i+j)%2 == 1 {
				p.Stop = "budget"
				p.Warnings = []string{"the interval of the slowdown is wide"}
			}
			f.Problems = append(f.Problems, p)
		}
	}
	return f
}

var syntheticAlgorithms = []string{
	"binomial", "scatter_ring_allgather", "pipelined_tree(k=2,chunk=8192)", "linear", "library_default",
	"recursive_doubling", "knomial(k=4)", "knomial(k=8)", "chain(segsize=65536)", "split_binary",
}

func syntheticProblem(r *rand.Rand, nodes, sizes, ppns int) ProblemFacts {
	points := nodes * sizes * ppns
	p := ProblemFacts{
		Stop: "converged", Rounds: 24, Points: points, PointsMeasured: points / 5,
		Candidates: points * len(syntheticAlgorithms), Trials: points*len(syntheticAlgorithms)/5 + 3, Failed: 3,
		MachineSeconds: 5230, NodeSeconds: 5230 * 40, ExhaustiveSeconds: 61000,
		Leaves: 31, TreeLoss: 0.004, Forest: []Param{{"trees", "120"}, {"min_leaf", "2"}},
	}
	for i := range p.Rounds {
		excess := math.Exp(-float64(i) / 4)
		p.Curve = append(p.Curve, activelearn.Evaluation{
			Round: i + 1, Trials: 20 * (i + 1), Points: points * (i + 1) / 120, PointShare: float64(i+1) / 120,
			MachineSeconds: 12 * math.Pow(1.303, float64(i)), Source: []activelearn.Source{activelearn.CrossValidated, activelearn.Reference}[i%2],
			R2: 1 - excess, Slowdown: 1.01 + 1.3*excess*(0.8+0.4*r.Float64()), Accuracy: 0.8 - 0.5*excess,
			Mistakes: 0.02 + 0.5*excess, P95Slowdown: 1.1 + 4*excess, WorstSlowdown: 1.4 + 9*excess,
		})
	}
	slower, worst := 2, 1.08
	p.Scores = []Score{
		{Name: "tuned", Source: "measured", SlowdownLow: 1.009, SlowdownHigh: 1.016, MistakesLow: 0.012, MistakesHigh: 0.031, Slower: &slower, SlowerWorst: &worst,
			Summary: metrics.Summary{Points: points, Slowdown: 1.012, Accuracy: 0.81, Mistakes: 0.021, P95: 1.08, Worst: 1.41}},
		{Name: "default", Source: "measured", SlowdownLow: 1.41, SlowdownHigh: 1.53, MistakesLow: 0.4, MistakesHigh: 0.47,
			Summary: metrics.Summary{Points: points, Slowdown: 1.47, Accuracy: 0.33, Mistakes: 0.44, P95: 3.1, Worst: 11.2}},
	}
	p.Cells = syntheticCells(r, nodes, sizes, ppns)
	p.Algorithms = syntheticKnowledge(r, p.Cells)
	p.HPO = syntheticStudy(r)
	return p
}

func syntheticCells(r *rand.Rand, nodes, sizes, ppns int) []Cell {
	var cells []Cell
	for k := range ppns {
		for n := range nodes {
			for s := range sizes {
				choice := (s/3 + (n+k)/3) % len(syntheticAlgorithms)
				tuned := 1 + 0.02*r.ExpFloat64()
				cell := Cell{
					Point:     coll.Point{Nodes: 2 << n, PPN: 1 << k, MsgBytes: 8 << s},
					Algorithm: syntheticAlgorithms[choice], Slowdown: &tuned,
				}
				if r.IntN(4) == 0 {
					cell.MeasuredAlgorithms = 1 + r.IntN(len(syntheticAlgorithms))
				}
				if r.IntN(30) != 0 {
					untuned := tuned + r.ExpFloat64()*0.5
					cell.DefaultSlowdown = &untuned
				}
				cells = append(cells, cell)
			}
		}
	}
	return cells
}

func syntheticKnowledge(r *rand.Rand, cells []Cell) []AlgorithmFacts {
	var out []AlgorithmFacts
	for i, name := range syntheticAlgorithms {
		a := AlgorithmFacts{Name: name}
		for _, c := range cells {
			if c.Algorithm == name {
				a.Selected++
			}
			if r.IntN(4) == 0 {
				a.Measured++
				x := r.NormFloat64()
				a.Parity = append(a.Parity, Parity{Measured: x, Predicted: x + 0.15*r.NormFloat64()})
			}
		}
		if i != 3 {
			r2 := 0.9 + 0.01*float64(i)
			a.R2 = &r2
		}
		out = append(out, a)
	}
	return out
}

func syntheticStudy(r *rand.Rand) []HPOTrial {
	var out []HPOTrial
	var best *float64
	for i := range 40 {
		t := HPOTrial{Number: i, State: "complete", Params: []Param{{"trees", fmt.Sprint(50 + 10*i)}}}
		value := 1.02 + 0.05*r.Float64() + 0.4*math.Exp(-float64(i))
		switch i % 7 {
		case 3:
			t.State = "pruned"
			value += 0.05
		case 5:
			t.State = "failed"
		default:
			if best == nil || value < *best {
				best = &value
			}
		}
		if t.State != "failed" {
			t.Value = &value
		}
		t.Best = best
		out = append(out, t)
	}
	return out
}

// smallFacts returns synthetic facts of 2 libraries with 2 collectives each. Every problem has 12 points.
func smallFacts() Facts {
	return syntheticFacts([]string{"mpich", "openmpi"}, []string{string(coll.Allreduce), string(coll.Bcast)}, 3, 2, 2)
}

// liveFacts returns smallFacts with a verification, and with the other facts that only a campaign on a real
// machine has.
func liveFacts() Facts {
	f := smallFacts()
	f.Libraries[0].Verified = true
	rng := rand.New(rand.NewPCG(5, 6))
	v := verify.Result{Library: "mpich", Ended: true, Rules: verify.DefaultRules(), Passes: 2, Trials: 900, Failed: 3, MachineSeconds: 5400}
	for i := range 60 {
		value := math.Exp(0.25*rng.NormFloat64() - 0.2)
		p := verify.PointResult{
			TestPoint: testPoint(coll.Bcast, 2<<(i%3), 8<<(i/3), "binomial"), Blocks: 9, Ratio: verify.Interval{Value: value, Low: value * 0.97, High: value * 1.04},
		}
		if i%9 == 0 {
			p.Choice, p.Kind = coll.Default, verify.Control
			p.Ratio = verify.Interval{Value: 1.001, Low: 0.98, High: 1.02}
		}
		if i == 9 {
			p.Reverted, p.Kind = true, verify.Retest
		}
		v.Points = append(v.Points, p)
	}
	v.Points = append(v.Points, verify.PointResult{TestPoint: testPoint(coll.Allreduce, 2, 8, "ring"), TunedFailed: 20})
	v.Collectives = []verify.CollectiveResult{
		{Collective: coll.Allreduce, Points: 1, Reverted: 1, RevertedWhole: true},
		{Collective: coll.Bcast, Points: 60, ChangedPoints: 53, Speedup: verify.Interval{Value: 1.21, Low: 1.15, High: 1.28}, ControlSpeedup: verify.Interval{Value: 1.001, Low: 0.99, High: 1.01}, Reverted: 1},
	}
	v.Reverted = []verify.Finding{
		{TestPoint: testPoint(coll.Bcast, 2, 64, "binomial"), Reason: verify.Slower, Ratio: verify.Interval{Value: 1.31, Low: 1.27, High: 1.36}, P: 1.9e-6, Blocks: 19},
		{TestPoint: testPoint(coll.Allreduce, 2, 8, "ring"), Reason: verify.Fails, P: 1, Error: "run: killed by signal 11"},
	}
	v.Slower = []verify.Finding{{TestPoint: testPoint(coll.Allreduce, 2, 8, coll.Default.Name), Reason: verify.Slower, Ratio: verify.Interval{Value: 1.2, Low: 1.1, High: 1.3}, P: 1e-5, Blocks: 20}}
	v.ForcingChecks = []verify.ForcingCheck{
		{TestPoint: testPoint(coll.Bcast, 4, 512, "binomial"), State: verify.Obeyed},
		{TestPoint: testPoint(coll.Allreduce, 4, 512, "ring"), State: verify.Ignored, Note: "MPIR_Allreduce_intra_smp instead of ring"},
		{TestPoint: testPoint(coll.Allreduce, 8, 512, "ring"), State: verify.NotObservable},
	}
	f.Verification = []VerificationFacts{{Result: v}, {Result: verify.Result{Library: "openmpi"}}}
	f.MachineTime = []MachineTimeFacts{
		{Library: "mpich", Collective: "bcast", Jobs: 12, Queue: 3600, Launch: 700, Warmup: 300, Measure: 5000, Idle: 120},
		{Library: "mpich", Jobs: 3, Queue: 60, Launch: 70, Warmup: 30, Measure: 500, Idle: 12},
	}
	f.Excluded = []ExcludedFacts{{Library: "mpich", Candidate: candidate(8, 65536, "smp"), Attempts: 3, Phase: "run", Error: "killed by signal 11"}}
	f.Environments = []EnvironmentFacts{
		{Library: "mpich", MPIVersion: "MPICH Version: 4.0.2", Checksum: strings.Repeat("0123456789abcdef", 4), Kernel: "6.1.0-18-amd64", CPU: "a processor", Governor: "performance", Jobs: 15},
	}
	for i := range 12 {
		f.Environments[0].Nodes = append(f.Environments[0].Nodes, fmt.Sprintf("n%02d", i))
	}
	return f
}

// candidate returns a candidate of allreduce with two processes per node.
func candidate(nodes int, bytes int64, algorithm string) coll.Candidate {
	return coll.Candidate{Point: coll.Point{Collective: coll.Allreduce, Nodes: nodes, PPN: 2, MsgBytes: bytes}, Algorithm: coll.Algorithm{Name: algorithm}}
}

// testPoint returns a test point with two processes per node.
func testPoint(c coll.Collective, nodes int, bytes int64, choice string) verify.TestPoint {
	return verify.TestPoint{Point: coll.Point{Collective: c, Nodes: nodes, PPN: 2, MsgBytes: bytes}, Choice: coll.Algorithm{Name: choice}, Kind: verify.OnGrid}
}

// fullFacts returns smallFacts with ties, reasons, weights and two earlier campaigns.
func fullFacts() Facts {
	f := smallFacts()
	p := &f.Problems[0]
	for i := range p.Curve {
		p.Curve[i].Source = activelearn.Predicted
		p.Curve[i].SlowdownUpper, p.Curve[i].MistakesUpper = 1+2*(p.Curve[i].Slowdown-1), 1.5*p.Curve[i].Mistakes
	}
	ties := 1
	p.Model, p.Ties, p.HPO = "gp", &ties, nil
	p.Replicates, p.Noise, p.DefaultKept, p.NotGuarded = 19, 0.013, 3, true
	p.HeldOut = &hpo.Comparison{Trials: 20, GP: 0.008, Forest: 0.049, Error: 0.011}
	p.Unconfirmed = &activelearn.Unconfirmed{Points: 4, Gain: 0.003, Loss: 0.004, Seconds: 240}
	p.Unsafe = &UnsafeFacts{Algorithms: []string{"ring"}, Slowdown: new(1.02), Mistakes: new(0.04)}
	f.Problems[1].Stop, f.Problems[1].GoesOn = "", "the slowdown is too large"
	f.Journal, f.Measurements = "sha256:6a", "sha256:6b"
	f.Evidence = []EvidenceFacts{{Library: p.Library, Observed: 480, Accepted: 12, NotObserved: 3}}
	p.Cells[0].Tie, p.Cells[0].Rival = true, "linear"
	p.Weights = &WeightFacts{Points: 5, Half: 2, Largest: 3.25, LargestAt: "allreduce 4x2 64KiB"}
	for round := range 3 {
		p.Reasons = append(p.Reasons, RoundReasons{Round: round + 2, Candidates: 8, Gain: 0.02, Seconds: 7.3, Top: []journal.Reason{
			{Candidate: candidate(4, 65536, "binomial"), Reason: activelearn.Reason{Uncertainty: 0.07, Gain: 0.004, Seconds: 0.3, Rival: coll.Algorithm{Name: "linear"}}},
			{Candidate: candidate(8, 8, "linear"), Reason: activelearn.Reason{Gain: 3.2e-6, Seconds: 12}},
		}})
	}
	p.Compared = []ComparedFacts{
		{
			Campaign: "monday", Earlier: 400, Remeasured: 12, New: 30, Noise: 0.05,
			Algorithms: []ChangeFacts{
				{Name: "binomial", Measured: 20, Factor: verify.Interval{Value: 2.01, Low: 1.93, High: 2.1}, Changed: true},
				{Name: "linear", Measured: 22, Factor: verify.Interval{Value: 1.004, Low: 0.98, High: 1.03}},
				{Name: "library_default"},
			},
			Sizes: []ChangeFacts{{Name: "8B to 1KiB", Measured: 11, Factor: verify.Interval{Value: 0.8, Low: 0.75, High: 0.85}, Changed: true}},
		},
		{Campaign: "sunday", Earlier: 3, Noise: 0.05},
	}
	return f
}

// TestFactsAreFull checks that the facts from which tests draw pages have a value in every field: a chart without data is
// not drawn.
func TestFactsAreFull(t *testing.T) {
	full, live := fullFacts(), liveFacts()
	check := func(name string, values ...any) {
		for i := range reflect.TypeOf(values[0]).NumField() {
			set := false
			for _, v := range values {
				set = set || !reflect.ValueOf(v).Field(i).IsZero()
			}
			if field := reflect.TypeOf(values[0]).Field(i); !set {
				t.Errorf("%s.%s is set in no facts", name, field.Name)
			}
		}
	}
	check("Facts", full, live)
	var problems []any
	for _, p := range full.Problems {
		problems = append(problems, p)
	}
	for _, p := range live.Problems {
		problems = append(problems, p)
	}
	check("ProblemFacts", problems...)
}
