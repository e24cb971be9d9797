package export

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"tutti/campaign"
	"tutti/coll"
	"tutti/journal"
	"tutti/report"
	"tutti/verify"
)

// AddJournal adds to `f` what the report shows of a journal: why candidates were chosen, verifications, machine time,
// environments of jobs, and candidates whose attempts all failed. `libraries` lists the libraries in the
// order of the report. Errors match verify.ErrEntry.
func AddJournal(f *report.Facts, state *journal.State, libraries []string, attempts int) error {
	for _, lib := range libraries {
		entries, err := verify.Entries(state.Verification(lib))
		if err != nil {
			return err
		}
		res, err := verify.Restore(lib, entries)
		if err != nil {
			return err
		}
		if res.Sessions > 0 {
			f.Verification = append(f.Verification, report.VerificationFacts{
				Result: res, OtherPlacements: otherPlacements(placementOf(f, lib), entries),
			})
		}
	}
	for i := range f.Problems {
		p := &f.Problems[i]
		p.Reasons = reasonsOf(state.Problem(journal.Problem{Library: p.Library, Collective: coll.Collective(p.Collective)}))
	}
	jobs := verificationsLast(state.Jobs)
	f.MachineTime = machineTime(jobs)
	jobs = slices.DeleteFunc(jobs, func(j *journal.Job) bool { return j.Problem.Collective == journal.Preflight }) // they run a script
	f.Environments = environments(jobs)
	f.Evidence = evidence(state)
	f.Warnings = slices.Concat(f.Warnings, mixedEnvironments(f.Environments), changedPrograms(jobs))
	var err error
	f.Excluded, err = excluded(state, attempts)
	return err
}

// evidence counts the measurements of forced algorithms of each library that has any.
func evidence(state *journal.State) []report.EvidenceFacts {
	var out []report.EvidenceFacts
	for _, r := range state.Rounds {
		if len(r.Evidence) == 0 {
			continue
		}
		i := slices.IndexFunc(out, func(o report.EvidenceFacts) bool { return o.Library == r.Problem.Library })
		if i < 0 {
			i, out = len(out), append(out, report.EvidenceFacts{Library: r.Problem.Library})
		}
		out[i].Observed += r.Evidence[coll.Observed]
		out[i].Accepted += r.Evidence[coll.Accepted]
		out[i].NotObserved += r.Evidence[coll.NotObserved]
	}
	return out
}

// verificationsLast moves the jobs of verifications to the end.
func verificationsLast(jobs []*journal.Job) []*journal.Job {
	out := slices.Clone(jobs)
	rank := func(j *journal.Job) int {
		if j.Problem.Collective == "" {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b *journal.Job) int { return rank(a) - rank(b) })
	return out
}

func machineTime(jobs []*journal.Job) []report.MachineTimeFacts {
	var out []report.MachineTimeFacts
	for _, j := range jobs {
		if j.Open() {
			continue
		}
		i := slices.IndexFunc(out, func(m report.MachineTimeFacts) bool {
			return m.Library == j.Problem.Library && m.Collective == string(j.Problem.Collective)
		})
		if i < 0 {
			i = len(out)
			out = append(out, report.MachineTimeFacts{Library: j.Problem.Library, Collective: string(j.Problem.Collective)})
		}
		m, nodes := &out[i], float64(j.Nodes)
		m.Jobs++
		m.Queue += j.Spent.Queue
		m.Launch += j.Spent.Launch * nodes
		m.Warmup += j.Spent.Warmup * nodes
		m.Measure += j.Spent.Measure * nodes
		m.Idle += j.Spent.Idle * nodes
	}
	return out
}

// environments groups jobs by library, kernel and processor, with the nodes on which they ran.
func environments(jobs []*journal.Job) []report.EnvironmentFacts {
	var out []report.EnvironmentFacts
	nodes := []map[string]bool{}
	for _, j := range jobs {
		e := j.Environment
		if e == nil {
			continue
		}
		facts := report.EnvironmentFacts{Library: j.Problem.Library, MPIVersion: e.Library, Checksum: e.Checksum, Kernel: e.Kernel, CPU: e.CPU, Governor: e.Governor}
		i := slices.IndexFunc(out, func(o report.EnvironmentFacts) bool {
			return o.Library == facts.Library && o.MPIVersion == facts.MPIVersion && o.Checksum == facts.Checksum &&
				o.Kernel == facts.Kernel && o.CPU == facts.CPU && o.Governor == facts.Governor
		})
		if i < 0 {
			i = len(out)
			out, nodes = append(out, facts), append(nodes, map[string]bool{})
		}
		out[i].Jobs++
		for _, n := range e.Nodes {
			nodes[i][n] = true
		}
	}
	for i := range out {
		out[i].Nodes = slices.Sorted(maps.Keys(nodes[i]))
	}
	slices.SortStableFunc(out, func(a, b report.EnvironmentFacts) int { return cmp.Compare(a.Library, b.Library) })
	return out
}

// mixedEnvironments returns a warning for each library that was measured with different files or kernels. The
// environments must be sorted by library.
func mixedEnvironments(environments []report.EnvironmentFacts) []string {
	distinct := func(library string, part func(report.EnvironmentFacts) string) int {
		found := map[string]bool{}
		for _, e := range environments {
			if e.Library == library && part(e) != "" {
				found[part(e)] = true
			}
		}
		return len(found)
	}
	var out []string
	for i, e := range environments {
		if i > 0 && e.Library == environments[i-1].Library {
			continue
		}
		if n := distinct(e.Library, func(e report.EnvironmentFacts) string { return e.Checksum }); n > 1 {
			out = append(out, fmt.Sprintf("%s was measured with %d different files of the library: times may not be comparable", e.Library, n))
		}
		if n := distinct(e.Library, func(e report.EnvironmentFacts) string { return e.Kernel }); n > 1 {
			out = append(out, fmt.Sprintf("%s was measured under %d different kernels: times may not be comparable", e.Library, n))
		}
	}
	return out
}

// changedPrograms returns a warning for each problem that was measured with several files of the benchmark program.
func changedPrograms(jobs []*journal.Job) []string {
	first := map[journal.Problem]string{}
	var out []string
	for _, j := range jobs {
		if j.Environment == nil || j.Environment.Program == "" || j.Probing {
			continue
		}
		if first[j.Problem] = cmp.Or(first[j.Problem], j.Environment.Program); first[j.Problem] == j.Environment.Program {
			continue
		}
		what := j.Problem.String()
		if j.Problem.Collective == "" {
			what = "the verification of " + j.Problem.Library
		}
		text := what + " was measured with different files of the benchmark program: times may not be comparable"
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// excluded returns the candidates whose attempts all failed, sorted by library and collective.
func excluded(state *journal.State, attempts int) ([]report.ExcludedFacts, error) {
	var out []report.ExcludedFacts
	for _, p := range state.Problems {
		failed := map[coll.Candidate]int{}
		for t, err := range p.FailedTrials() {
			if err != nil {
				return nil, err
			}
			if failed[t.Candidate]++; failed[t.Candidate] == attempts {
				out = append(out, report.ExcludedFacts{Library: p.Library, Candidate: t.Candidate, Attempts: attempts, Phase: t.Phase, Error: t.Error})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b report.ExcludedFacts) int {
		return cmp.Or(cmp.Compare(a.Library, b.Library), cmp.Compare(a.Collective, b.Collective))
	})
	return out, nil
}

// reasonsOf returns why each round measured its candidates. `past` may be nil.
func reasonsOf(past *journal.ProblemState) []report.RoundReasons {
	if past == nil {
		return nil
	}
	var out []report.RoundReasons
	for _, r := range past.Rounds {
		if why := r.Reasons; why != nil {
			out = append(out, report.RoundReasons{Round: r.Number, Candidates: r.Candidates, Gain: why.Gain, Seconds: why.Seconds, Top: why.Top})
		}
	}
	return out
}

func weightFacts(p campaign.Problem) *report.WeightFacts {
	if p.Weights == nil {
		return nil
	}
	f := &report.WeightFacts{}
	order := make([]int, len(p.Weights))
	total := 0.0
	for i, w := range p.Weights {
		order[i] = i
		total += w
		if w > 0 {
			f.Points++
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.Weights[b], p.Weights[a]) })
	for sum := 0.0; f.Half < len(order) && sum < total/2; f.Half++ {
		sum += p.Weights[order[f.Half]]
	}
	f.Largest = p.Weights[order[0]]
	f.LargestAt = fmt.Sprint(p.Space.Points()[order[0]])
	return f
}

func placementOf(f *report.Facts, library string) coll.Placements {
	for _, l := range f.Libraries {
		if l.Library == library && l.Placement != nil {
			return *l.Placement
		}
	}
	return coll.Placements{}
}

// otherPlacements describes, without duplicates, how a verification placed ranks on nodes differently than the campaign.
func otherPlacements(tuned coll.Placements, entries []verify.Entry) []string {
	var measured []coll.Measurement
	for _, e := range entries {
		if e.Trial != nil {
			measured = append(measured, e.Trial.Measurement)
		}
	}
	slices.SortStableFunc(measured, func(a, b coll.Measurement) int { return a.Nodes - b.Nodes })
	var out []string
	for _, m := range measured {
		if text := tuned.Differ(m); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}
