package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
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
	noon    = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	problem = journal.Problem{Library: "mpich", Collective: coll.Bcast}
	compare = cmp.Comparer(func(a, b coll.Algorithm) bool { return a == b })
)

func candidate(nodes int) coll.Candidate {
	return coll.Candidate{
		Point:     coll.Point{Collective: coll.Bcast, Nodes: nodes, PPN: 4, MsgBytes: 65536},
		Algorithm: coll.Algorithm{Name: "binomial"},
	}
}

func trial(nodes int) journal.Record {
	return journal.Record{
		Kind: journal.KindTrial, Time: noon, Problem: problem, Round: 3,
		Trial: &coll.Trial{
			Measurement: coll.Measurement{Candidate: candidate(nodes), Seconds: 12.5e-6, CostSeconds: 1.5},
			Attempt:     1, State: coll.TrialDone,
		},
	}
}

// everyKind returns one record of each kind.
func everyKind(t *testing.T) []journal.Record {
	t.Helper()
	alg := testutil.Must(coll.ParseAlgorithm("pipeline(segsize=8192)"))(t)
	withParams := candidate(8)
	withParams.Algorithm = alg
	failed := coll.Trial{
		Measurement: coll.Measurement{Candidate: withParams, CostSeconds: 0.5},
		Attempt:     2, State: coll.TrialFailed, Phase: "run", Error: "exit 1: <no memory> & more",
	}
	return []journal.Record{
		{Kind: journal.KindBatch, Time: noon, Problem: problem, Round: 1, Batch: []coll.Candidate{candidate(2), withParams}},
		trial(4),
		{Kind: journal.KindTrial, Time: noon, Problem: problem, Round: 1, Trial: &failed},
		{Kind: journal.KindJob, Time: noon, Problem: problem, Round: 1, Job: &coll.Job{
			Name: "tutti-a1b2c3d4-mpich-bcast-r1-1", State: coll.JobEnded, ID: "17", Requests: []int{0, 2}, Nodes: 4, LimitSeconds: 300,
			Outcome: coll.JobTimeout, Spent: coll.Spent{Queue: 2.5, Measure: 120},
			Environment: &coll.Environment{Nodes: []string{"n1", "n2"}, Kernel: "6.1.0", Started: noon}}},
		{Kind: journal.KindEvaluation, Time: noon, Problem: problem, Round: 1, Evaluation: &activelearn.Evaluation{
			Round: 1, Trials: 3, Points: 2, PointShare: 0.25, R2: -0.5, Slowdown: 1.02, Source: "reference"}},
		{Kind: journal.KindGrow, Time: noon, Problem: problem, Round: 1, Grow: []coll.Candidate{trial(5).Trial.Candidate}},
		{Kind: journal.KindHPO, Time: noon, Problem: problem, HPO: &hpo.TrialRecord{State: hpo.Complete, Value: new(float64), Params: hpo.ForestParams{Trees: 100}}},
		{Kind: journal.KindComparison, Time: noon, Problem: problem, Comparison: &hpo.Comparison{Trials: 1, GP: 0.02}},
		{Kind: journal.KindStop, Time: noon, Stop: "converged", Note: "all problems"},
		{Kind: journal.KindResume, Time: noon},
	}
}

func create(t *testing.T, dir string) *journal.Journal {
	t.Helper()
	j := testutil.Must(journal.Create(dir, journal.Header{ID: "a1b2c3d4", Campaign: "night", Version: "1.0", Created: noon, Seed: math.MaxUint64, Spec: json.RawMessage(`{"a": [1, 2]}`)}))(t)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func TestRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	j := create(t, dir)
	want := everyKind(t)
	testutil.NoError(t, j.Append(want[:3]...))
	testutil.NoError(t, j.Append(want[3:]...))
	got := testutil.Must(journal.Read(dir))(t) // while the journal is open
	header := journal.Header{Schema: journal.Schema, ID: "a1b2c3d4", Campaign: "night", Version: "1.0", Created: noon, Seed: math.MaxUint64, Spec: json.RawMessage(`{"a":[1,2]}`)}
	if diff := cmp.Diff(header, got.Header); diff != "" || got.Records != len(want) || len(got.Warnings) > 0 {
		t.Errorf("Read: %d records, warnings %v, header (-want +got)\n%s", got.Records, got.Warnings, diff)
	}
	if diff := cmp.Diff(want, campaigntest.Records(t, dir), compare); diff != "" {
		t.Errorf("records (-want +got)\n%s", diff)
	}
	testutil.NoError(t, j.Close())
	if err := j.Close(); err != nil {
		t.Errorf("second Close = %v, want nil", err)
	}
	if err := j.Append(trial(1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Append after Close = %v, want %v", err, os.ErrClosed)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != journal.FileName {
		t.Errorf("folder after Close has %v (error %v), want only %s", left, err, journal.FileName)
	}
}

func TestOpenContinues(t *testing.T) {
	dir := t.TempDir()
	j := create(t, dir)
	testutil.NoError(t, errors.Join(j.Append(trial(1)), j.Close()))
	j, contents, err := journal.Open(dir)
	testutil.NoError(t, err)
	defer j.Close()
	if contents.Records != 1 || len(contents.Warnings) != 0 {
		t.Errorf("Open = %d records, warnings %v, want 1 and none", contents.Records, contents.Warnings)
	}
	stamped := trial(2)
	stamped.Time = time.Time{}
	j.Now = func() time.Time { return noon.Add(time.Hour).In(time.FixedZone("CET", 3600)) }
	testutil.NoError(t, j.Append(stamped))
	got := campaigntest.Records(t, dir)
	if want := noon.Add(time.Hour); len(got) != 2 || got[1].Time != want {
		t.Errorf("records %+v, want two, the second of %v", got, want)
	}
	before := contents.Records
	testutil.NoError(t, contents.Reread())
	if contents.Records != before+1 {
		t.Errorf("after Reread %d records, want %d", contents.Records, before+1)
	}
}

// TestAppendToStampsTheState checks that records that are added to the state have the time that the file has.
func TestAppendToStampsTheState(t *testing.T) {
	dir := t.TempDir()
	j := create(t, dir)
	testutil.NoError(t, j.Close())
	j, contents, err := journal.Open(dir)
	testutil.NoError(t, err)
	defer j.Close()
	j.Now = func() time.Time { return noon.In(time.FixedZone("CET", 3600)) }
	done := trial(4)
	step := journal.Record{Kind: journal.KindVerify, Verify: &journal.VerifyStep{Library: "mpich", Session: 1, Round: 1, Stage: 1, Trial: done.Trial}}
	testutil.NoError(t, j.AppendTo(contents.State(), step))
	if got := contents.State().Verification("mpich").Last; got != noon {
		t.Errorf("last step at %v, want %v", got, noon)
	}
}

func TestCreateAgain(t *testing.T) {
	dir := t.TempDir()
	j := create(t, dir)
	for range 2 { // first while the first journal is open, then after it is closed
		if _, err := journal.Create(dir, journal.Header{}); !errors.Is(err, journal.ErrExists) {
			t.Errorf("Create = %v, want %v", err, journal.ErrExists)
		}
		testutil.NoError(t, j.Close())
	}
}

func TestNoJournal(t *testing.T) {
	dir := t.TempDir()
	if _, err := journal.Read(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read = %v, want %v", err, fs.ErrNotExist)
	}
	if _, _, err := journal.Open(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open = %v, want %v", err, fs.ErrNotExist)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("Open left %v", left)
	}
}

func TestAppendErrors(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	bad := func(change func(*journal.Record)) journal.Record {
		r := trial(1)
		own := *r.Trial
		r.Trial = &own
		change(&r)
		return r
	}
	evaluation := func(e activelearn.Evaluation) journal.Record {
		return journal.Record{Kind: journal.KindEvaluation, Evaluation: &e}
	}
	tests := []struct {
		name   string
		record journal.Record
	}{
		{"job without a name", journal.Record{Kind: journal.KindJob, Job: &coll.Job{State: coll.JobIntended, Requests: []int{0}}}},
		{"job without trials", journal.Record{Kind: journal.KindJob, Job: &coll.Job{Name: "j", State: coll.JobIntended}}},
		{"submitted job without an id", journal.Record{Kind: journal.KindJob, Job: &coll.Job{Name: "j", State: coll.JobSubmitted, Requests: []int{0}}}},
		{"job in no state", journal.Record{Kind: journal.KindJob, Job: &coll.Job{Name: "j", State: "asleep", Requests: []int{0}}}},
		{"unknown kind", journal.Record{Kind: "noise"}},
		{"no kind", journal.Record{}},
		{"header", journal.Record{Kind: journal.KindHeader}},
		{"nothing set", journal.Record{Kind: journal.KindTrial}},
		{"two set", bad(func(r *journal.Record) { r.Stop = "budget" })},
		{"resume with a trial", bad(func(r *journal.Record) { r.Kind = journal.KindResume })},
		{"no state", bad(func(r *journal.Record) { r.Trial.State = "" })},
		{"done without a time", bad(func(r *journal.Record) { r.Trial.Seconds = 0 })},
		{"cost NaN", bad(func(r *journal.Record) { r.Trial.State = coll.TrialFailed; r.Trial.CostSeconds = math.NaN() })},
		{"interval infinite", bad(func(r *journal.Record) { r.Trial.High = math.Inf(1) })},
		{"R2 NaN", evaluation(activelearn.Evaluation{R2: math.NaN()})},
		{"slowdown infinite", evaluation(activelearn.Evaluation{Slowdown: math.Inf(1)})},
	}
	dir := t.TempDir()
	j := create(t, dir)
	for _, tc := range tests {
		golden(tc.name, j.Append(trial(1), tc.record))
	}
	got, err := journal.Read(dir)
	if err != nil || got.Records != 0 {
		t.Errorf("Read = %v (error %v), want no records", got, err)
	}
	if err := j.Append(trial(1)); err != nil {
		t.Errorf("Append after refusals = %v", err)
	}
}

func TestAppendConcurrently(t *testing.T) {
	dir := t.TempDir()
	j := create(t, dir)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for nodes := range 10 {
				if err := j.Append(trial(nodes), trial(nodes+100)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got := campaigntest.Records(t, dir)
	if len(got) != 160 {
		t.Fatalf("%d records, want 160", len(got))
	}
	for i := 0; i < len(got); i += 2 { // the records of a group are adjacent
		if a, b := got[i].Trial.Nodes, got[i+1].Trial.Nodes; b != a+100 {
			t.Errorf("records %d and %d: nodes %d and %d, want a pair", i, i+1, a, b)
		}
	}
}

func Example() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	j, err := journal.Create(dir, journal.Header{Campaign: "night", Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer j.Close()
	if err := j.Append(trial(16), journal.Record{Kind: journal.KindStop, Problem: problem, Stop: "converged"}); err != nil {
		fmt.Println(err)
		return
	}
	contents, err := journal.Read(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(contents.Records, "records,", contents.State().Problem(problem).Stop)
	// Output: 2 records, converged
}
