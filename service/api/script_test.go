package api_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/journal"
	"tutti/report"
	"tutti/service"
)

// problems lists what every script tunes: two collectives of each of two libraries.
var problems = []journal.Problem{
	{Library: "mpich", Collective: coll.Bcast}, {Library: "mpich", Collective: coll.Allreduce},
	{Library: "openmpi", Collective: coll.Bcast}, {Library: "openmpi", Collective: coll.Allreduce},
}

// scripted is one line of a journal, together with the campaign's progress after this line.
type scripted struct {
	kind     string
	data     []byte
	progress service.Progress
}

// script generates the journal of a synthetic campaign. The times of the campaign's machine follow cost
// models.
type script struct {
	drift    float64 // factor of the time per byte
	lines    []scripted
	measured map[string]int // line of the journal by problem and candidate
	progress service.Progress
	random   *rand.Rand
}

// times contains cost models like those of Thakur et al. (2005). The arguments of a model are the number of
// processes p, the number of bytes n, the latency a, and the time b for each byte. Both times are in seconds.
var times = map[coll.Collective]map[string]func(p, n, a, b float64) float64{
	coll.Bcast: {
		"binomial":                             func(p, n, a, b float64) float64 { return math.Log2(p) * (a + n*b) },
		"scatter_recursive_doubling_allgather": func(p, n, a, b float64) float64 { return 2*math.Log2(p)*a + 2.1*n*b },
		"scatter_ring_allgather":               func(p, n, a, b float64) float64 { return (math.Log2(p)+p-1)*a*0.7 + 1.9*n*b },
		"smp":                                  func(p, n, a, b float64) float64 { return 0.9*math.Log2(p)*a + 0.93*math.Log2(p)*n*b + a/2 },
	},
	coll.Allreduce: {
		"recursive_doubling":       func(p, n, a, b float64) float64 { return math.Log2(p) * (a + 1.2*n*b) },
		"reduce_scatter_allgather": func(p, n, a, b float64) float64 { return 2*math.Log2(p)*a + 2.3*n*b },
		"ring":                     func(p, n, a, b float64) float64 { return 2*(p-1)*a*0.5 + 2*n*b },
	},
}

var (
	nodeCounts = []int{2, 4, 8, 16, 32}
	ppns       = []int{1, 8, 32}
)

func sizes() (out []int64) {
	for n := int64(1); n <= 1<<20; n *= 4 {
		out = append(out, n, 2*n)
	}
	return out[:len(out)-1]
}

func (s *script) seconds(p journal.Problem, algorithm string, nodes, ppn int, bytes int64) float64 {
	all := float64(nodes * ppn)
	a, b := 1.6e-6, 2.4e-10*s.drift*(1+0.4*math.Log2(float64(ppn)))
	if p.Library == "openmpi" {
		a *= 1.2
	}
	if algorithm == "library_default" {
		algorithm = defaultAlgorithm(p, nodes*ppn, bytes)
	}
	return times[p.Collective][algorithm](max(all, 2), float64(bytes), a, b)
}

// defaultAlgorithm returns the algorithm that the synthetic library runs by default.
func defaultAlgorithm(p journal.Problem, processes int, bytes int64) string {
	names := slices.Sorted(maps.Keys(times[p.Collective]))
	if bytes >= 8<<10 && processes > 16 {
		return names[1]
	}
	return names[0]
}

func algorithms(p journal.Problem) []string {
	return append(slices.Sorted(maps.Keys(times[p.Collective])), "library_default")
}

func newScript(name string, drift float64) *script {
	s := &script{drift: drift, measured: map[string]int{}, random: rand.New(rand.NewPCG(7, 7))}
	s.progress.Problems = len(problems)
	spec := json.RawMessage(`{"runner":{"kind":"slurm"},"libraries":[{"name":"mpich"},{"name":"openmpi"}],"collectives":["bcast","allreduce"],` +
		`"stop":{"slowdown":1.03,"mistakes":0.05,"mistake_threshold":0.1,"machine_time":5400000000000}}`)
	header := struct {
		Kind string `json:"kind"`
		journal.Header
	}{"header", journal.Header{Schema: journal.Schema, Campaign: name, ID: "a1b2c3d4", Version: "0.3.0", Created: startTime, Seed: 1, Spec: spec}}
	s.line("header", header)
	s.preflight("mpich")
	s.preflight("openmpi")
	ends := []int{14, 18, 12, 20}
	for round := 1; round <= slices.Max(ends); round++ {
		for i, p := range problems {
			if round <= ends[i] {
				s.round(p, round, ends[i])
			}
		}
	}
	s.record(journal.Record{Kind: journal.KindStop, Stop: "converged", Note: "all problems"})
	return s
}

// preflight adds the records of a launch that reads the settings of the machine.
func (s *script) preflight(library string) {
	p := journal.Problem{Library: library, Collective: journal.Preflight}
	probe := coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 8}, Algorithm: coll.Algorithm{Name: "settings"}}
	s.record(journal.Record{Kind: journal.KindBatch, Problem: p, Round: 1, Batch: []coll.Candidate{probe}})
	job := coll.Job{Name: fmt.Sprintf("tutti-a1b2c3d4-%s-preflight-r1-1", library), State: coll.JobIntended, Requests: []int{0}, Nodes: 2, LimitSeconds: 60}
	for _, state := range []coll.JobState{coll.JobIntended, coll.JobSubmitted, coll.JobEnded} {
		job.State = state
		if state == coll.JobEnded {
			t := coll.Trial{Measurement: coll.Measurement{Candidate: probe, CostSeconds: 4, Job: job.Name}, Attempt: 1, State: coll.TrialDone, Answer: "{}"}
			s.record(journal.Record{Kind: journal.KindTrial, Problem: p, Round: 1, Trial: &t})
			job.Outcome = coll.JobCompleted
		}
		s.record(journal.Record{Kind: journal.KindJob, Problem: p, Round: 1, Job: &job})
	}
}

func (s *script) record(r journal.Record) {
	r.Time = startTime.Add(time.Duration(len(s.lines)) * 1100 * time.Millisecond)
	s.line(string(r.Kind), r)
}

func (s *script) line(kind string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	s.progress.Records++
	s.lines = append(s.lines, scripted{kind, data, s.progress})
}

// round adds the records of one round of a problem: a batch, its job, its trials
// and an evaluation. One in forty trials fails.
func (s *script) round(p journal.Problem, round, last int) {
	const batch = 6
	r := journal.Record{Problem: p, Round: round, Kind: journal.KindBatch}
	for range batch {
		names := algorithms(p)
		a, err := coll.ParseAlgorithm(names[s.random.IntN(len(names))])
		if err != nil {
			panic(err)
		}
		rival, err := coll.ParseAlgorithm(names[s.random.IntN(len(names)-1)])
		if err != nil {
			panic(err)
		}
		point := coll.Point{Collective: p.Collective, Nodes: pick(s.random, nodeCounts), PPN: pick(s.random, ppns), MsgBytes: pick(s.random, sizes())}
		r.Batch = append(r.Batch, coll.Candidate{Point: point, Algorithm: a})
		uncertainty := 0.3 * s.random.Float64() / float64(round)
		r.Reasons = append(r.Reasons, activelearn.Reason{Uncertainty: uncertainty, Gain: uncertainty / 40, Seconds: 2 + 9*s.random.Float64(), Rival: rival})
	}
	s.progress.Rounds++
	s.record(r)
	s.job(r)
	s.evaluate(p, round, last)
}

func (s *script) job(r journal.Record) {
	job := coll.Job{
		Name: fmt.Sprintf("tutti-a1b2c3d4-%s-%s-r%d-1", r.Problem.Library, r.Problem.Collective, r.Round), State: coll.JobIntended,
		Requests: []int{0, 1, 2, 3, 4, 5}, Nodes: 32, LimitSeconds: 600,
	}
	s.progress.Jobs++
	publish := func(j coll.Job) {
		s.record(journal.Record{Kind: journal.KindJob, Problem: r.Problem, Round: r.Round, Job: &j})
	}
	publish(job)
	job.State, job.ID = coll.JobSubmitted, fmt.Sprint(4100+len(s.lines))
	publish(job)
	for _, c := range r.Batch {
		seconds := s.seconds(r.Problem, c.Algorithm.String(), c.Nodes, c.PPN, c.MsgBytes)
		t := coll.Trial{Measurement: coll.Measurement{Candidate: c, Seconds: seconds, Low: seconds * 0.98, High: seconds * 1.03, Samples: 120, CostSeconds: 4, Job: job.Name}, Attempt: 1, State: coll.TrialDone}
		s.progress.Trials++
		if s.random.IntN(40) == 0 {
			t.Measurement = coll.Measurement{Candidate: c, CostSeconds: 4, Job: job.Name}
			t.State, t.Phase, t.Error = coll.TrialFailed, "run", "killed after 60 s"
			s.progress.FailedTrials++
		}
		s.record(journal.Record{Kind: journal.KindTrial, Problem: r.Problem, Round: r.Round, Trial: &t})
		s.measured[key(r.Problem, c.Algorithm.String(), c.Nodes, c.PPN, c.MsgBytes)] = len(s.lines)
	}
	job.State, job.Outcome, job.Spent = coll.JobEnded, coll.JobCompleted, coll.Spent{Queue: 11 + 30*s.random.Float64(), Launch: 4, Measure: 20}
	s.progress.Jobs--
	publish(job)
}

func (s *script) evaluate(p journal.Problem, round, last int) {
	remaining := float64(last-round) / float64(last)
	e := activelearn.Evaluation{
		Round: round, Trials: 6 * round, Points: 5 * round, CandidateShare: 0.011 * float64(round), PointShare: 0.03 * float64(round),
		MachineSeconds: 31*float64(round) + 4*float64(round*round)/3, Source: "predicted", EvaluatedPoints: 315,
		Slowdown: 1.008 + 0.9*math.Pow(remaining, 3)*(0.8+0.4*s.random.Float64()), Mistakes: 0.012 + 0.5*remaining*remaining*(0.8+0.4*s.random.Float64()),
	}
	e.NodeSeconds = 32 * e.MachineSeconds
	s.progress.MachineSeconds += 31 + 8*float64(round)/3
	s.progress.NodeSeconds = 32 * s.progress.MachineSeconds
	s.progress.Slowdown, s.progress.Mistakes = e.Slowdown, e.Mistakes
	s.record(journal.Record{Kind: journal.KindEvaluation, Problem: p, Round: round, Evaluation: &e})
	if round == last {
		s.progress.Converged++
		s.record(journal.Record{Kind: journal.KindStop, Problem: p, Round: round, Stop: "converged"})
	}
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func key(p journal.Problem, algorithm string, nodes, ppn int, bytes int64) string {
	return fmt.Sprint(p, algorithm, nodes, ppn, bytes)
}

// predictions returns predictions for all candidates, which equal the exact times. Candidates that occur in
// the first lines of the journal are marked as measured; `lines` is the number of these lines.
func (s *script) predictions(p journal.Problem, lines int) (out []service.Prediction) {
	for _, nodes := range nodeCounts {
		for _, ppn := range ppns {
			for _, bytes := range sizes() {
				for _, a := range algorithms(p) {
					line, known := s.measured[key(p, a, nodes, ppn, bytes)]
					out = append(out, service.Prediction{Point: coll.Point{Collective: coll.Collective(p.Collective), Nodes: nodes, PPN: ppn, MsgBytes: bytes}, Algorithm: a, Seconds: s.seconds(p, a, nodes, ppn, bytes), Measured: known && line <= lines})
				}
				here := out[len(out)-len(algorithms(p)):]
				fastest := slices.MinFunc(here, func(a, b service.Prediction) int { return cmp.Compare(a.Seconds, b.Seconds) }).Seconds
				for i := range here {
					here[i].Slowdown = here[i].Seconds / fastest
				}
			}
		}
	}
	return out
}

// cells returns the points of a problem, as a report shows them. At each the fastest algorithm is selected.
func (s *script) cells(p journal.Problem, lines int) (out []report.Cell) {
	all := s.predictions(p, lines)
	n := len(algorithms(p))
	for i := 0; i < len(all); i += n {
		here := slices.Clone(all[i : i+n])
		byDefault := here[n-1].Seconds
		here = here[:n-1]
		slices.SortStableFunc(here, func(a, b service.Prediction) int { return cmp.Compare(a.Seconds, b.Seconds) })
		best, second := here[0], here[1]
		gap := second.Seconds / best.Seconds
		slowdown, defaultSlowdown, pMistake := 1.0, byDefault/best.Seconds, 0.4*math.Exp(-12*(gap-1))
		cell := report.Cell{
			Point: best.Point, Algorithm: best.Algorithm, Slowdown: &slowdown, DefaultSlowdown: &defaultSlowdown,
			Tie: gap < 1.02, Rival: second.Algorithm, PMistake: &pMistake,
		}
		if best.Seconds > 0.99*byDefault {
			cell.Algorithm = "library_default"
		}
		for _, q := range all[i : i+n] {
			if q.Measured {
				cell.MeasuredAlgorithms++
			}
		}
		out = append(out, cell)
	}
	return out
}
