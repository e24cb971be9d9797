package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/campaign/report"
	"tutti/coll"
	"tutti/store"
	"tutti/verify"
)

func jobRecord(p store.Problem, name string, state coll.JobState, checksum, kernel string, nodes ...string) store.Record {
	return store.Record{Kind: store.KindJob, Problem: p, Round: 1, Job: &coll.Job{
		Name: name, State: state, Nodes: 2, Carries: []int{0},
		Spent:       coll.Spent{Queue: 10, Launch: 1, Warmup: 2, Measure: 3, Idle: 4},
		Environment: &coll.Environment{Nodes: nodes, Library: "MPICH", Checksum: checksum, Kernel: kernel},
	}}
}

// TestAddJournal: jobs, exclusions and environments become facts, and a journal
// without them none.
func TestAddJournal(t *testing.T) {
	bcast := store.Problem{Library: "mpich", Collective: coll.Bcast}
	ring := coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 8}, Algorithm: coll.Algorithm{Name: "ring"}}
	trial := func(attempt int, state coll.TrialState) store.Record {
		return store.Record{Kind: store.KindTrial, Problem: bcast, Trial: &coll.Trial{
			Measurement: coll.Measurement{Candidate: ring, Seconds: 1}, Attempt: attempt, State: state, Phase: "run", Error: "crashed"}}
	}
	probe, err := verify.Entry{Library: "mpich", Session: 1, Round: 1, Look: verify.FirstLook, Job: jobRecord(bcast, "v", coll.JobEnded, "s1", "k2", "n3").Job}.Record()
	if err != nil {
		t.Fatal(err)
	}
	records := []store.Record{
		jobRecord(bcast, "a", coll.JobIntended, "", ""),
		trial(1, coll.TrialFailed), trial(2, coll.TrialFailed),
		jobRecord(bcast, "a", coll.JobEnded, "s1", "k1", "n1", "n2"),
		jobRecord(bcast, "b", coll.JobEnded, "s1", "k1", "n2"),
		jobRecord(bcast, "c", coll.JobEnded, "s2", "k1", "n1"),
		jobRecord(bcast, "d", coll.JobSubmitted, "s2", "k1", "n1"),
		probe,
	}
	var f report.Facts
	if err := report.AddJournal(&f, store.Fold(records), []string{"mpich"}, 2); err != nil {
		t.Fatal(err)
	}
	want := []report.MachineTimeFacts{
		{Library: "mpich", Collective: "bcast", Jobs: 3, Queue: 30, Launch: 6, Warmup: 12, Measure: 18, Idle: 24},
		{Library: "mpich", Jobs: 1, Queue: 10, Launch: 2, Warmup: 4, Measure: 6, Idle: 8},
	}
	if d := cmp.Diff(want, f.MachineTime); d != "" {
		t.Errorf("machine time (-want +got):\n%s", d)
	}
	excluded := []report.ExcludedFacts{{Library: "mpich", Collective: "bcast", Nodes: 2, PPN: 1, MsgBytes: 8, Algorithm: "ring", Attempts: 2, Phase: "run", Error: "crashed"}}
	if d := cmp.Diff(excluded, f.Excluded); d != "" {
		t.Errorf("excluded (-want +got):\n%s", d)
	}
	if len(f.Environments) != 3 || !slices.Equal(f.Environments[0].Nodes, []string{"n1", "n2"}) || f.Environments[0].Jobs != 2 {
		t.Errorf("environments %+v", f.Environments)
	}
	for _, want := range []string{"2 different files of the library", "2 different kernels"} {
		if !slices.ContainsFunc(f.Warnings, func(w string) bool { return strings.Contains(w, want) }) {
			t.Errorf("warnings %q, want one of %s", f.Warnings, want)
		}
	}
	var none report.Facts
	if err := report.AddJournal(&none, store.Fold([]store.Record{{Kind: store.KindResume}, trial(1, coll.TrialFailed)}), []string{"mpich"}, 2); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(report.Facts{}, none); d != "" {
		t.Errorf("a journal without such records (-want +got):\n%s", d)
	}
}
