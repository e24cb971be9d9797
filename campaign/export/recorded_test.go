package export_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/activelearn"
	"tutti/campaign/export"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
	"tutti/report"
	"tutti/verify"
)

func jobRecord(p journal.Problem, name string, state coll.JobState, checksum, kernel string, nodes ...string) journal.Record {
	return journal.Record{Kind: journal.KindJob, Problem: p, Round: 1, Job: &coll.Job{
		Name: name, State: state, Nodes: 2, Requests: []int{0},
		Spent:       coll.Spent{Queue: 10, Launch: 1, Warmup: 2, Measure: 3, Idle: 4},
		Environment: &coll.Environment{Nodes: nodes, Library: "MPICH", Checksum: checksum, Kernel: kernel},
	}}
}

// TestAddJournal checks the facts about jobs, environments and excluded candidates, whose attempts all
// failed. A journal without jobs, failures and environments must add no facts.
func TestAddJournal(t *testing.T) {
	bcast := journal.Problem{Library: "mpich", Collective: coll.Bcast}
	candidate := func(algorithm string) coll.Candidate {
		return coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 8}, Algorithm: coll.Algorithm{Name: algorithm}}
	}
	trial := func(algorithm string, attempt int, state coll.TrialState) journal.Record {
		return journal.Record{Kind: journal.KindTrial, Problem: bcast, Trial: &coll.Trial{
			Measurement: coll.Measurement{Candidate: candidate(algorithm), Seconds: 1}, Attempt: attempt, State: state, Phase: "run", Error: "crashed"}}
	}
	verification := testutil.Must(verify.Entry{Library: "mpich", Session: 1, Round: 1, Stage: verify.Screening, Job: jobRecord(bcast, "v", coll.JobEnded, "s1", "k2", "n3").Job}.Record())(t)
	records := []journal.Record{
		jobRecord(bcast, "a", coll.JobIntended, "", ""),
		trial("ring", 1, coll.TrialFailed), trial("tree", 1, coll.TrialFailed), trial("ring", 2, coll.TrialFailed), trial("tree", 2, coll.TrialDone),
		jobRecord(bcast, "a", coll.JobEnded, "s1", "k1", "n1", "n2"),
		jobRecord(bcast, "b", coll.JobEnded, "s1", "k1", "n2"),
		jobRecord(bcast, "c", coll.JobEnded, "s2", "k1", "n1"),
		jobRecord(bcast, "d", coll.JobSubmitted, "s2", "k1", "n1"),
		verification,
	}
	var f report.Facts
	testutil.NoError(t, export.AddJournal(&f, campaigntest.State(records), []string{"mpich"}, 2))
	want := []report.MachineTimeFacts{
		{Library: "mpich", Collective: "bcast", Jobs: 3, Queue: 30, Launch: 6, Warmup: 12, Measure: 18, Idle: 24},
		{Library: "mpich", Jobs: 1, Queue: 10, Launch: 2, Warmup: 4, Measure: 6, Idle: 8},
	}
	if d := cmp.Diff(want, f.MachineTime); d != "" {
		t.Errorf("machine time (-want +got):\n%s", d)
	}
	excluded := []report.ExcludedFacts{{Library: "mpich", Candidate: candidate("ring"), Attempts: 2, Phase: "run", Error: "crashed"}}
	if !slices.Equal(excluded, f.Excluded) {
		t.Errorf("excluded %+v, want %+v", f.Excluded, excluded)
	}
	if len(f.Environments) != 3 || !slices.Equal(f.Environments[0].Nodes, []string{"n1", "n2"}) || f.Environments[0].Jobs != 2 {
		t.Errorf("environments %+v", f.Environments)
	}
	for _, want := range []string{"2 different files of the library", "2 different kernels"} {
		if !slices.ContainsFunc(f.Warnings, func(w string) bool { return strings.Contains(w, want) }) {
			t.Errorf("warnings %q, want one of %s", f.Warnings, want)
		}
	}
	if slices.ContainsFunc(f.Warnings, func(w string) bool { return strings.Contains(w, "benchmark program") }) {
		t.Errorf("warnings %q name a program, whose file is unknown", f.Warnings)
	}
	var none report.Facts
	testutil.NoError(t, export.AddJournal(&none, campaigntest.State([]journal.Record{{Kind: journal.KindResume}, trial("ring", 1, coll.TrialFailed)}), []string{"mpich"}, 2))
	if d := cmp.Diff(report.Facts{}, none); d != "" {
		t.Errorf("a journal without such records (-want +got):\n%s", d)
	}
}

// TestAddJournalReasons checks that each round shows the reasons with the greatest gains, sorted by gain.
// Retries have no reason.
func TestAddJournalReasons(t *testing.T) {
	bcast := journal.Problem{Library: "mpich", Collective: coll.Bcast}
	batch := journal.Record{Kind: journal.KindBatch, Problem: bcast, Round: 2}
	for i := range 8 {
		batch.Batch = append(batch.Batch, coll.Candidate{
			Point: coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 8 << i}, Algorithm: coll.Algorithm{Name: "ring"},
		})
		why := activelearn.Reason{Uncertainty: 0.1, Gain: float64(i) / 100, Seconds: 2, Rival: coll.Algorithm{Name: "tree"}}
		if i == 3 {
			why = activelearn.Reason{} // a retry
		}
		batch.Reasons = append(batch.Reasons, why)
	}
	first := journal.Record{Kind: journal.KindBatch, Problem: bcast, Round: 1, Batch: batch.Batch[:2]}
	f := report.Facts{Problems: []report.ProblemFacts{{Library: "mpich", Collective: "bcast"}, {Library: "openmpi", Collective: "bcast"}}}
	testutil.NoError(t, export.AddJournal(&f, campaigntest.State([]journal.Record{first, batch}), []string{"mpich", "openmpi"}, 2))
	if len(f.Problems[0].Reasons) != 1 || f.Problems[1].Reasons != nil {
		t.Fatalf("reasons of %d rounds and of a problem without rounds: %+v", len(f.Problems[0].Reasons), f.Problems[1].Reasons)
	}
	got := f.Problems[0].Reasons[0]
	if got.Round != 2 || got.Candidates != 8 || math.Abs(got.Gain-0.25) > 1e-12 || got.Seconds != 14 || len(got.Top) != 5 {
		t.Errorf("round %+v", got)
	}
	for i, want := range []int64{8 << 7, 8 << 6, 8 << 5, 8 << 4, 8 << 2} {
		if r := got.Top[i]; r.MsgBytes != want || r.Algorithm.Name != "ring" || r.Rival.Name != "tree" {
			t.Errorf("reason %d is %+v, want one for %d bytes", i, r, want)
		}
	}
}

// TestAddJournalVerifications checks that verifications are in the order of the libraries, and that
// entries that no verification can have written lead to an error.
func TestAddJournalVerifications(t *testing.T) {
	pass := func(library string) journal.Record {
		return testutil.Must(verify.Entry{Library: library, Session: 1, Pass: &verify.Pass{Number: 1, FirstRound: 1, Rules: verify.DefaultRules()}}.Record())(t)
	}
	state := campaigntest.State([]journal.Record{pass("openmpi"), pass("mpich")})
	var f report.Facts
	testutil.NoError(t, export.AddJournal(&f, state, []string{"mpich", "intel", "openmpi"}, 2))
	if len(f.Verification) != 2 || f.Verification[0].Library != "mpich" || f.Verification[1].Library != "openmpi" || f.Verification[0].Ended {
		t.Errorf("verifications %+v", f.Verification)
	}
	state.Add(journal.Record{Verify: &journal.VerifyStep{Library: "mpich", Pass: []byte(`{"number":"x"}`)}})
	if err := export.AddJournal(&report.Facts{}, state, []string{"mpich"}, 2); !errors.Is(err, verify.ErrEntry) {
		t.Errorf("AddJournal: %v, want %v", err, verify.ErrEntry)
	}
}

// TestChangedPrograms checks that a problem or verification is named once if files of several benchmark programs measured
// it. Problems may have programs of their own. The probe of a verification is no benchmark.
func TestChangedPrograms(t *testing.T) {
	job := func(collective coll.Collective, name, program string) journal.Record {
		r := jobRecord(journal.Problem{Library: "mpich", Collective: collective}, name, coll.JobEnded, "s", "k")
		r.Job.Environment.Program = program
		return r
	}
	verification := func(stage int, name, program string) journal.Record {
		r := job("", name, program)
		return journal.Record{Verify: &journal.VerifyStep{Library: "mpich", Session: 1, Round: 1, Stage: stage, Job: r.Job}}
	}
	const differ = " was measured with different files of the benchmark program: times may not be comparable"
	for _, tc := range []struct {
		programs, verification string // of the jobs of bcast, of those of the verification
		want                   []string
	}{
		{"1 1 1", "1 1", nil},
		{"1 2 3 1", "1", []string{"mpich bcast" + differ}},
		{"1", "1 2", []string{"the verification of mpich" + differ}},
	} {
		records := []journal.Record{job(coll.Reduce, "r", "of reduce"), verification(3, "p", "of the probe")}
		for i, program := range strings.Fields(tc.programs) {
			records = append(records, job(coll.Bcast, string(rune('a'+i)), program))
		}
		for i, program := range strings.Fields(tc.verification) {
			records = append(records, verification(1, string(rune('A'+i)), program))
		}
		var f report.Facts
		testutil.NoError(t, export.AddJournal(&f, campaigntest.State(records), []string{"mpich"}, 2))
		if !slices.Equal(f.Warnings, tc.want) {
			t.Errorf("%s: warnings %q, want %q", tc.programs, f.Warnings, tc.want)
		}
	}
}
