package campaign

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"tutti/campaign/report"
	"tutti/coll"
	"tutti/store"
	"tutti/verify"
)

// Recorded adds to f what a journal holds beside the problems: why candidates were
// chosen, verifications, where the time of jobs went, candidates that were given up
// after so many attempts, and
// where was measured. libraries are in the order of the report. A journal without
// such records changes nothing. The error matches verify.ErrEntry.
func Recorded(f *report.Facts, records []store.Record, libraries []string, attempts int) error {
	entries, err := verify.Entries(records)
	if err != nil {
		return err
	}
	for _, lib := range libraries {
		res, err := verify.Recall(entries, lib)
		if err != nil {
			return err
		}
		if res.Sessions > 0 {
			f.Verification = append(f.Verification, verificationFacts(res))
		}
	}
	addReasons(f, records)
	jobs := jobsOf(records, entries)
	f.MachineTime = machineTime(jobs)
	f.Environments = environments(jobs)
	f.Excluded = excluded(records, attempts)
	f.Warnings = append(f.Warnings, mixed(f.Environments)...)
	return nil
}

// ranJob is the last record of a job and whose it was; no collective for a
// verification.
type ranJob struct {
	store.Problem
	coll.Job
}

// jobsOf returns the jobs of problems and of verifications, in the order they began.
func jobsOf(records []store.Record, entries []verify.Entry) []ranJob {
	var out []ranJob
	add := func(p store.Problem, j coll.Job) {
		same := func(o ranJob) bool { return o.Problem == p && o.Name == j.Name }
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i].Job = j
			return
		}
		out = append(out, ranJob{p, j})
	}
	for _, r := range records {
		if r.Kind == store.KindJob {
			add(r.Problem, *r.Job)
		}
	}
	for _, e := range entries {
		if e.Job != nil {
			add(store.Problem{Library: e.Library}, *e.Job)
		}
	}
	return out
}

func machineTime(jobs []ranJob) []report.MachineTimeFacts {
	var out []report.MachineTimeFacts
	for _, j := range jobs {
		if j.State != coll.JobEnded {
			continue
		}
		i := slices.IndexFunc(out, func(m report.MachineTimeFacts) bool {
			return m.Library == j.Library && m.Collective == string(j.Collective)
		})
		if i < 0 {
			i = len(out)
			out = append(out, report.MachineTimeFacts{Library: j.Library, Collective: string(j.Collective)})
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
func environments(jobs []ranJob) []report.EnvironmentFacts {
	var out []report.EnvironmentFacts
	nodes := []map[string]bool{}
	for _, j := range jobs {
		e := j.Environment
		if e == nil {
			continue
		}
		here := report.EnvironmentFacts{Library: j.Problem.Library, MPI: e.Library, Checksum: e.Checksum, Kernel: e.Kernel, CPU: e.CPU, Governor: e.Governor}
		i := slices.IndexFunc(out, func(o report.EnvironmentFacts) bool {
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
	slices.SortStableFunc(out, func(a, b report.EnvironmentFacts) int { return cmp.Compare(a.Library, b.Library) })
	return out
}

// mixed warns of libraries that were measured with several files or kernels.
func mixed(environments []report.EnvironmentFacts) []string {
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

// excluded returns the candidates that failed so often and were never measured, in
// the order they were given up.
func excluded(records []store.Record, attempts int) []report.ExcludedFacts {
	type key struct {
		store.Problem
		coll.Candidate
	}
	failed := map[key]int{}
	var out []report.ExcludedFacts
	for _, r := range records {
		if r.Kind != store.KindTrial || r.Trial.State == coll.TrialDone {
			continue
		}
		t := r.Trial
		k := key{r.Problem, t.Candidate}
		if failed[k]++; failed[k] != attempts {
			continue
		}
		out = append(out, report.ExcludedFacts{
			Library: r.Problem.Library, Collective: string(t.Collective), Nodes: t.Nodes, PPN: t.PPN, MsgBytes: t.MsgBytes,
			Algorithm: t.Algorithm.String(), Attempts: attempts, Phase: t.Phase, Error: t.Error,
		})
	}
	slices.SortStableFunc(out, func(a, b report.ExcludedFacts) int {
		return cmp.Or(cmp.Compare(a.Library, b.Library), cmp.Compare(a.Collective, b.Collective))
	})
	return out
}
