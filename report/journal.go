package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"tutti/coll"
	"tutti/journal"
	"tutti/verify"
)

// AddJournal adds to f what a journal holds beside the results of the problems: why
// candidates were chosen, verifications, where the time of jobs went, where was
// measured, and candidates that were given up after so many attempts. libraries are
// in the order of the report. A journal without such records changes nothing. The
// error matches verify.ErrEntry.
func AddJournal(f *Facts, state *journal.State, libraries []string, attempts int) error {
	for _, lib := range libraries {
		entries, err := verify.Entries(state.Verification(lib))
		if err != nil {
			return err
		}
		res, err := verify.Recall(lib, entries)
		if err != nil {
			return err
		}
		if res.Sessions > 0 {
			v := verificationFacts(res)
			v.Elsewhere = elsewhere(f.placement(lib), state.Verification(lib))
			f.Verification = append(f.Verification, v)
		}
	}
	for i := range f.Problems {
		p := &f.Problems[i]
		p.Reasons = reasonsOf(state.Problem(journal.Problem{Library: p.Library, Collective: coll.Collective(p.Collective)}))
	}
	jobs := verificationsLast(state.Jobs)
	f.MachineTime = machineTime(jobs)
	f.Environments = environments(jobs)
	f.Excluded = excluded(state, attempts)
	f.Warnings = append(f.Warnings, mixed(f.Environments)...)
	return nil
}

// verificationsLast returns the jobs of problems before those of verifications, each
// in the order they began.
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

func machineTime(jobs []*journal.Job) []MachineTimeFacts {
	var out []MachineTimeFacts
	for _, j := range jobs {
		if j.Open() {
			continue
		}
		i := slices.IndexFunc(out, func(m MachineTimeFacts) bool {
			return m.Library == j.Problem.Library && m.Collective == string(j.Problem.Collective)
		})
		if i < 0 {
			i = len(out)
			out = append(out, MachineTimeFacts{Library: j.Problem.Library, Collective: string(j.Problem.Collective)})
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

// environments groups jobs by everything but their nodes.
func environments(jobs []*journal.Job) []EnvironmentFacts {
	var out []EnvironmentFacts
	nodes := []map[string]bool{}
	for _, j := range jobs {
		e := j.Environment
		if e == nil {
			continue
		}
		here := EnvironmentFacts{Library: j.Problem.Library, MPI: e.Library, Checksum: e.Checksum, Kernel: e.Kernel, CPU: e.CPU, Governor: e.Governor}
		i := slices.IndexFunc(out, func(o EnvironmentFacts) bool {
			return o.Library == here.Library && o.MPI == here.MPI && o.Checksum == here.Checksum &&
				o.Kernel == here.Kernel && o.CPU == here.CPU && o.Governor == here.Governor
		})
		if i < 0 {
			i = len(out)
			out, nodes = append(out, here), append(nodes, map[string]bool{})
		}
		out[i].Jobs++
		for _, n := range e.Nodes {
			nodes[i][n] = true
		}
	}
	for i := range out {
		out[i].Nodes = slices.Sorted(maps.Keys(nodes[i]))
	}
	slices.SortStableFunc(out, func(a, b EnvironmentFacts) int { return cmp.Compare(a.Library, b.Library) })
	return out
}

// mixed warns of libraries that were measured with several files or kernels.
func mixed(environments []EnvironmentFacts) []string {
	var out []string
	checksums, kernels := map[string][]string{}, map[string][]string{}
	add := func(to map[string][]string, lib, value string) {
		if value != "" && !slices.Contains(to[lib], value) {
			to[lib] = append(to[lib], value)
		}
	}
	var libraries []string
	for _, e := range environments {
		if !slices.Contains(libraries, e.Library) {
			libraries = append(libraries, e.Library)
		}
		add(checksums, e.Library, e.Checksum)
		add(kernels, e.Library, e.Kernel)
	}
	for _, lib := range libraries {
		if n := len(checksums[lib]); n > 1 {
			out = append(out, fmt.Sprintf("%s was measured with %d different files of the library: times may not compare", lib, n))
		}
		if n := len(kernels[lib]); n > 1 {
			out = append(out, fmt.Sprintf("%s was measured under %d different kernels: times may not compare", lib, n))
		}
	}
	return out
}

// excluded returns the candidates that failed so often and were never measured, by
// library and collective, in the order they were given up.
func excluded(state *journal.State, attempts int) []ExcludedFacts {
	var out []ExcludedFacts
	for _, p := range state.Problems {
		failed := map[coll.Candidate]int{}
		for _, r := range p.Rounds {
			for _, t := range r.Trials {
				if t.State == coll.TrialDone {
					continue
				}
				if failed[t.Candidate]++; failed[t.Candidate] != attempts {
					continue
				}
				out = append(out, ExcludedFacts{
					Library: p.Library, Collective: string(t.Collective), Nodes: t.Nodes, PPN: t.PPN, MsgBytes: t.MsgBytes,
					Algorithm: t.Algorithm.String(), Attempts: attempts, Phase: t.Phase, Error: t.Error,
				})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b ExcludedFacts) int {
		return cmp.Or(cmp.Compare(a.Library, b.Library), cmp.Compare(a.Collective, b.Collective))
	})
	return out
}
