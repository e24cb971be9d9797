package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/hpo"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
)

var (
	bcast  = journal.Problem{Library: "mpich", Collective: coll.Bcast}
	reduce = journal.Problem{Library: "mpich", Collective: coll.Reduce}
)

func jobRecord(p journal.Problem, round int, name string, state coll.JobState, minute int) journal.Record {
	return journal.Record{Kind: journal.KindJob, Time: noon.Add(time.Duration(minute) * time.Minute), Problem: p, Round: round, Job: &coll.Job{Name: name, State: state}}
}

func trialRecord(p journal.Problem, round int, c coll.Candidate, seconds float64, state coll.TrialState) journal.Record {
	return journal.Record{Kind: journal.KindTrial, Problem: p, Round: round, Trial: &coll.Trial{Measurement: coll.Measurement{Candidate: c, Seconds: seconds}, State: state}}
}

func with(alg string) coll.Candidate {
	return coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 8}, Algorithm: coll.Algorithm{Name: alg}}
}

// TestOpenJobs checks that OpenJobs uses the latest record of each job and includes jobs of verifications. It must
// return the jobs in the order of their first records.
func TestOpenJobs(t *testing.T) {
	probe := journal.Record{Kind: journal.KindVerify, Verify: &journal.VerifyStep{
		Library: "mpich", Session: 1, Round: 1, Stage: 1, Job: &coll.Job{Name: "v", State: coll.JobSubmitted},
	}}
	trial := trialRecord(bcast, 1, with("ring"), 1, coll.TrialDone)
	tests := []struct {
		name    string
		records []journal.Record
		want    []string
	}{
		{"nothing", nil, nil},
		{"ended", []journal.Record{jobRecord(bcast, 1, "a", coll.JobIntended, 0), jobRecord(bcast, 1, "a", coll.JobSubmitted, 1), trial, jobRecord(bcast, 1, "a", coll.JobEnded, 2)}, nil},
		{"intended", []journal.Record{jobRecord(bcast, 1, "a", coll.JobIntended, 0)}, []string{"a intended"}},
		{"in the order they began", []journal.Record{
			jobRecord(bcast, 1, "c", coll.JobIntended, 0), jobRecord(reduce, 1, "b", coll.JobIntended, 0), jobRecord(bcast, 1, "a", coll.JobIntended, 0),
			jobRecord(bcast, 1, "a", coll.JobSubmitted, 1), jobRecord(bcast, 1, "c", coll.JobSubmitted, 1), jobRecord(reduce, 1, "b", coll.JobEnded, 1), trial,
		}, []string{"c submitted", "a submitted"}},
		{"of a verification", []journal.Record{jobRecord(bcast, 1, "a", coll.JobSubmitted, 0), probe}, []string{"a submitted", "v submitted"}},
	}
	for _, tc := range tests {
		var got []string
		for _, j := range campaigntest.State(tc.records).OpenJobs() {
			got = append(got, j.Name+" "+string(j.State))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestReplay(t *testing.T) {
	ring, tree := with("ring"), with("tree")
	eval := activelearn.Evaluation{Round: 1, Slowdown: 1.5}
	state := campaigntest.State([]journal.Record{
		{Kind: journal.KindBatch, Problem: bcast, Round: 1, Batch: []coll.Candidate{ring, tree}, Reasons: make([]activelearn.Reason, 2)},
		jobRecord(bcast, 1, "a", coll.JobIntended, 1),
		{Kind: journal.KindResume},
		jobRecord(bcast, 1, "a", coll.JobSubmitted, 2),
		{Kind: journal.KindBatch, Problem: reduce, Round: 1, Batch: []coll.Candidate{ring}},
		trialRecord(bcast, 1, ring, 3, coll.TrialDone),
		trialRecord(bcast, 1, tree, 0, coll.TrialFailed),
		jobRecord(bcast, 1, "a", coll.JobEnded, 9),
		{Kind: journal.KindEvaluation, Problem: bcast, Round: 1, Evaluation: &eval},
		{Kind: journal.KindGrow, Problem: bcast, Round: 1, Grow: []coll.Candidate{tree}},
		{Kind: journal.KindBatch, Problem: bcast, Round: 2, Batch: []coll.Candidate{tree}},
		trialRecord(bcast, 2, tree, 2, coll.TrialDone),
		trialRecord(bcast, 2, ring, 4, coll.TrialDone),
		{Kind: journal.KindStop, Problem: bcast, Stop: "converged"},
		{Kind: journal.KindHPO, Problem: bcast, HPO: &hpo.TrialRecord{}},
	})
	if len(state.Problems) != 2 || state.Problems[0].Problem != bcast || state.Problem(reduce).Stop != "" || state.Problem(bcast).Stop != "converged" {
		t.Fatalf("problems %+v", state.Problems)
	}
	p := state.Problem(bcast)
	one, ok := p.Round(1)
	if !ok || one.Candidates != 2 || one.Reasons == nil || one.Done+one.Failed != 2 || one.Evaluation == nil || len(one.Grow) != 1 || len(one.Jobs()) != 1 || one.Jobs()[0].State != coll.JobEnded {
		t.Errorf("round 1: %+v, %t", one, ok)
	}
	if _, ok := p.Round(3); ok || p.Last() != 2 || len(p.Study.Trials) != 1 {
		t.Errorf("round 3 known: %t, last %d, %d trials of the study", ok, p.Last(), len(p.Study.Trials))
	}
	var got []float64
	for _, m := range testutil.Must(p.Measurements(1))(t) {
		got = append(got, m.Seconds)
	}
	if diff := cmp.Diff([]float64{4, 2}, got); diff != "" {
		t.Errorf("last measurements (-want +got):\n%s", diff)
	}
	j := state.Jobs[0]
	if j.Problem != bcast || !j.Taken || j.Open() {
		t.Errorf("job %+v", j)
	}
	var none *journal.ProblemState
	if _, ok := none.Round(1); ok || none.Last() != 0 || state.Problem(journal.Problem{Library: "x"}) != nil || state.Verification("mpich").Jobs(1) != nil {
		t.Error("something is known of nothing")
	}
}

// TestStored checks that batches, trials and steps of verifications are the same whether they are read from
// memory or from the journal's file. If the file has lost records, reading must return an error.
func TestStored(t *testing.T) {
	trial := trialRecord(bcast, 1, with("ring"), 1, coll.TrialDone)
	job := jobRecord(bcast, 1, "a", coll.JobIntended, 1)
	job.Job.Requests, job.Job.Nodes = []int{0}, 2
	records := []journal.Record{
		{Kind: journal.KindBatch, Problem: bcast, Round: 1, Batch: []coll.Candidate{with("ring"), with("tree")}},
		trial, job, trialRecord(bcast, 1, with("tree"), 2, coll.TrialDone),
		{Kind: journal.KindVerify, Verify: &journal.VerifyStep{Library: "mpich", Session: 1, Round: 2, Stage: 1, Trial: trial.Trial}},
	}
	dir := t.TempDir()
	j := testutil.Must(journal.Create(dir, journal.Header{}))(t)
	testutil.NoError(t, errors.Join(j.Append(records...), j.Close()))
	stored := testutil.Must(journal.Read(dir))(t).State()
	content := func(s *journal.State) (out []any, failed error) {
		round, _ := s.Problem(bcast).Round(1)
		batch, failed := round.Batch()
		for trial, err := range round.Trials() {
			out, failed = append(out, trial), errors.Join(failed, err)
		}
		for step, err := range s.Verification("mpich").Steps() {
			out, failed = append(out, step), errors.Join(failed, err)
		}
		return append(out, batch), failed
	}
	want := testutil.Must(content(campaigntest.State(records)))(t)
	if got := testutil.Must(content(stored))(t); len(got) != 4 || !reflect.DeepEqual(got, want) {
		t.Errorf("in the file %+v, in memory %+v", got, want)
	}
	testutil.NoError(t, os.Truncate(filepath.Join(dir, journal.FileName), 100))
	if _, err := content(stored); !errors.Is(err, journal.ErrCorrupt) {
		t.Errorf("the file has lost records: %v, want %v", err, journal.ErrCorrupt)
	}
	testutil.NoError(t, os.Remove(filepath.Join(dir, journal.FileName)))
	if _, err := content(stored); !errors.Is(err, journal.ErrUnreadable) {
		t.Errorf("the file is gone: %v, want %v", err, journal.ErrUnreadable)
	}
}

func TestRoundNeedsBatch(t *testing.T) {
	state := campaigntest.State([]journal.Record{trialRecord(bcast, 1, with("ring"), 1, coll.TrialDone)})
	if _, ok := state.Problem(bcast).Round(1); ok {
		t.Error("a round without a batch counts as begun")
	}
}

// TestMeasurementsOfAShare checks that a share of the measurements has all algorithms at its points, and always the
// same points.
func TestMeasurementsOfAShare(t *testing.T) {
	p := campaigntest.State(manyRecords()).Problem(bcast)
	all := testutil.Must(p.Measurements(1))(t)
	some := testutil.Must(p.Measurements(0.1))(t)
	if part := float64(len(some)) / float64(len(all)); part < 0.05 || part > 0.15 {
		t.Errorf("%d of %d measurements, want about a tenth", len(some), len(all))
	}
	drawn := map[coll.Point]bool{}
	for _, m := range some {
		drawn[m.Point] = true
	}
	want := slices.DeleteFunc(all, func(m coll.Measurement) bool { return !drawn[m.Point] })
	if again := testutil.Must(p.Measurements(0.1))(t); !slices.Equal(some, want) || !slices.Equal(some, again) {
		t.Errorf("%d measurements, again %d, want the %d at the drawn points", len(some), len(again), len(want))
	}
}

// TestSpecReopens checks that the record of a new configuration reopens problems, so that no kill can separate the two,
// and that the two records of earlier journals do the same.
// TestGoesOn checks that the latest evaluation counts, and confirmation more than it.
func TestGoesOn(t *testing.T) {
	evaluated := func(slowdown float64) *journal.Round {
		return &journal.Round{Evaluation: &activelearn.Evaluation{Slowdown: slowdown, Mistakes: 0.01, PConverged: 0.5, Source: activelearn.Predicted}}
	}
	criteria := activelearn.Criteria{Slowdown: 1.05, Mistakes: 0.05, Confidence: 0.8}
	const uncertain = "the averages meet the criteria, but they hold with a probability of 50 % only, want 80 % (stop.confidence)"
	for _, tc := range []struct {
		name string
		p    *journal.ProblemState
		c    activelearn.Criteria
		want string
	}{
		{"no records", nil, criteria, ""},
		{"latest counts", &journal.ProblemState{Rounds: []*journal.Round{evaluated(1.2), evaluated(1.01), {}}}, criteria, uncertain},
		{"confirmed", &journal.ProblemState{Rounds: []*journal.Round{evaluated(1.01)}, Confirmation: 2}, criteria, "its selections are compared with the library's default"},
		{"criteria unknown", &journal.ProblemState{Rounds: []*journal.Round{evaluated(1.01)}}, activelearn.Criteria{}, ""},
	} {
		if got := tc.p.GoesOn(tc.c); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestSpecReopens(t *testing.T) {
	spec := journal.Record{Kind: journal.KindSpec, Spec: []byte("{}")}
	one := spec
	one.Reopen = []journal.Problem{bcast}
	for name, records := range map[string][]journal.Record{
		"one record":  {one},
		"two records": {{Kind: journal.KindReopen, Reopen: []journal.Problem{bcast}}, spec},
	} {
		var s journal.State
		for _, p := range []journal.Problem{bcast, reduce} {
			s.Add(journal.Record{Kind: journal.KindConfirm, Problem: p, Round: 3})
			s.Add(journal.Record{Kind: journal.KindStop, Problem: p, Stop: string(activelearn.Budget)})
		}
		for _, r := range records {
			testutil.NoError(t, r.Validate())
			s.Add(r)
		}
		for _, p := range s.Problems {
			if open := p.Stop == ""; open != (p.Problem == bcast) || p.Confirmation != 0 || p.Reopened {
				t.Errorf("%s: %v has the stop reason %q, confirmation %d, reopened %t", name, p.Problem, p.Stop, p.Confirmation, p.Reopened)
			}
		}
	}
}
