package assembly_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
)

// outcome contains the result of one problem in a form that tests can compare.
type outcome struct {
	Stop         activelearn.StopReason
	Rounds       int
	Evaluations  []activelearn.Evaluation
	Measurements []coll.Measurement
}

func outcomes(results []campaign.Result) []outcome {
	var out []outcome
	for _, r := range results {
		out = append(out, outcome{r.Stop, r.Rounds, r.Evaluations, r.Ledger.Measurements()})
	}
	return out
}

func matches(pattern, text string) bool { return regexp.MustCompile(pattern).MatchString(text) }

// TestWorkersDoNotChangeResults checks that results do not depend on how many problems (collectives of a
// library) are tuned at the same time.
func TestWorkersDoNotChangeResults(t *testing.T) {
	counts := []string{"7", "1"}
	if testing.Short() {
		counts = counts[:1] // for the race detector
	}
	var want []outcome
	for _, workers := range counts {
		_, results := campaigntest.RestoreAll(t, finished(t, "workers="+workers))
		if want == nil {
			want = outcomes(results)
		}
		if diff := cmp.Diff(want, outcomes(results), equalAlgorithms); diff != "" {
			t.Errorf("%s workers (-%s workers +%s workers):\n%s", workers, counts[0], workers, diff)
		}
	}
}

func TestWorkers(t *testing.T) {
	recorded := campaigntest.Small(t, t.TempDir())
	local := campaigntest.Fake(t, t.TempDir(), "local")
	slurm := campaigntest.Fake(t, t.TempDir(), "slurm")
	for _, tc := range []struct {
		file string
		set  []string
		want int
	}{
		{recorded, nil, runtime.GOMAXPROCS(0)},
		{recorded, []string{"workers=7"}, 7},
		{slurm, []string{"workers=7"}, 7},
		{local, []string{"workers=7"}, 1}, // tutti runs on the measured nodes
		{local, []string{"workers=7", "runner.kind=allocation"}, 1},
	} {
		if got := campaigntest.New(t, tc.file, tc.set...).Workers(); got != tc.want {
			t.Errorf("%s %v: %d workers, want %d", filepath.Base(tc.file), tc.set, got, tc.want)
		}
	}
}

// TestStartOrder checks that the problem with the largest space starts first if several problems run at the
// same time. Otherwise the problems start in the order of the libraries.
func TestStartOrder(t *testing.T) {
	for _, tc := range []struct {
		workers string
		want    []int
	}{{"1", []int{0, 1}}, {"2", []int{1, 0}}} {
		c := campaigntest.New(t, campaigntest.Small(t, t.TempDir()), "workers="+tc.workers)
		if one, other := c.Problems[0].Space.Size(), c.Problems[1].Space.Size(); one >= other {
			t.Fatalf("%d and %d candidates: want the second space to be larger", one, other)
		}
		if got := c.StartOrder(); !slices.Equal(got, tc.want) {
			t.Errorf("%s workers: order %v, want %v", tc.workers, got, tc.want)
		}
	}
}

// TestRestoreFaults checks that errors about unusable journals name the journal's folder.
func TestRestoreFaults(t *testing.T) {
	dir := finished(t)
	for _, tc := range []struct{ name, old, new, want string }{
		{"a key of a newer tutti", `"workers":`, `"weavers":`, "journal of " + dir + `: .*unknown field "weavers"`},
		{"missing data", "C_allreduce.csv", "C_gone.csv", "journal of " + dir + ": .*C_gone.csv"},
		{"unknown release", "4.1.4", "9.9.9", "campaign of " + dir + ": .*9.9.9"},
		{"unknown criterion", `"criterion":"`, `"criterion":"x`, "campaign of " + dir + ": model.criterion: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			contents := testutil.Must(journal.Read(dir))(t)
			contents.Header.Spec = json.RawMessage(strings.Replace(string(contents.Header.Spec), tc.old, tc.new, 1))
			_, err := assembly.Restore(contents, dir)
			if !errors.Is(err, assembly.ErrInput) || !matches(tc.want, err.Error()) {
				t.Errorf("Restore: %v, want bad input like %q", err, tc.want)
			}
		})
	}
	none := filepath.Join(dir, "none")
	if _, _, _, err := assembly.RestoreAll(none); !errors.Is(err, assembly.ErrInput) || !strings.Contains(err.Error(), "no journal in "+none) {
		t.Errorf("Reread: %v, want no journal in %s", err, none)
	}
}

// failing is a log that accepts a number of records and then returns errors.
type failing struct{ remaining int }

var errFull = errors.New("log is full")

func (l *failing) Append(recs ...journal.Record) error {
	if l.remaining -= len(recs); l.remaining < 0 {
		return errFull
	}
	return nil
}

// TestRunEnds checks that the first error ends all problems, and that Run returns context.Canceled if it is
// cancelled.
func TestRunEnds(t *testing.T) {
	c := campaigntest.New(t, campaigntest.Small(t, t.TempDir()), "workers=1")
	if results, err := c.Run(t.Context(), &journal.State{}, &failing{remaining: 5}, nil); !errors.Is(err, errFull) || results[1].Rounds > 0 {
		t.Errorf("Run: %v after %d rounds of the second problem, want %v before it", err, results[1].Rounds, errFull)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.Run(ctx, &journal.State{}, nil, func(campaign.Event) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v, want %v", err, context.Canceled)
	}
}

// TestResultsOfForeignRecords checks that records that do not fit the campaign lead to an error that names
// the folder.
func TestResultsOfForeignRecords(t *testing.T) {
	c, _ := campaigntest.RestoreAll(t, finished(t))
	contents := testutil.Must(journal.Read(c.Config.Output))(t)
	first := contents.State().Rounds[0]
	foreign := coll.Candidate{Point: coll.Point{Collective: first.Problem.Collective, Nodes: 31, PPN: 1, MsgBytes: 8}, Algorithm: coll.Default}
	contents.State().Add(journal.Record{Kind: journal.KindBatch, Problem: first.Problem, Round: 1, Batch: []coll.Candidate{foreign}})
	_, err := c.Results(contents.State())
	if !errors.Is(err, assembly.ErrInput) || !errors.Is(err, campaign.ErrLog) || !strings.Contains(err.Error(), "journal of "+c.Config.Output) {
		t.Errorf("Results: %v, want bad input that names the journal", err)
	}
}

// TestChangedJournal changes journals at random places. The campaign must resume from the changed journal,
// or the error must name the folder.
func TestChangedJournal(t *testing.T) {
	jnl := testutil.Must(os.ReadFile(filepath.Join(finished(t), journal.FileName)))(t)
	failed, rounds := 0, 20
	if testutil.AllCases() {
		rounds = 100
	}
	for seed := range rounds {
		changed, how := campaigntest.Change(jnl, rand.New(rand.NewPCG(uint64(seed), 11)))
		dir := t.TempDir()
		write(t, dir, map[string]string{journal.FileName: string(changed)})
		err := resume(t.Context(), dir)
		if err == nil {
			continue
		}
		failed++
		if !errors.Is(err, assembly.ErrInput) && !errors.Is(err, campaign.ErrLog) {
			t.Errorf("seed %d, %s: %v", seed, how, err)
		}
		if errors.Is(err, assembly.ErrInput) && !strings.Contains(err.Error(), dir) {
			t.Errorf("seed %d, %s: the error does not name the campaign: %v", seed, how, err)
		}
	}
	if failed < rounds/3 {
		t.Errorf("%d of %d changed journals gave an error, want at least a third", failed, rounds)
	}
}

// TestUnusable checks that a resumed campaign does not run an algorithm that crashed twice before.
func TestUnusable(t *testing.T) {
	c, past := connected(t), &journal.State{}
	cand := c.Problems[0].Space.Candidates()[0]
	cand.Algorithm = coll.Algorithm{Name: "ring"}
	for range 2 {
		crashed := coll.Trial{Measurement: coll.Measurement{Candidate: cand}, State: coll.TrialFailed, Phase: benchrunner.PhaseRun, Error: "signal 6"}
		past.Add(journal.Record{Kind: journal.KindTrial, Problem: c.Problems[0].Problem, Round: 1, Trial: &crashed})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // only the machine is restored
	if _, err := c.Run(ctx, past, nil, nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	cand.MsgBytes *= 2
	batch := benchrunner.Batch{Label: "again", Round: 2, Requests: []benchrunner.Request{{Candidate: cand, Attempt: 1}}}
	testutil.NoError(t, c.Problems[0].Runner.Run(t.Context(), batch, benchrunner.TrialLog(func(got coll.Trial) error {
		if want := "not launched: 2 trials of allreduce ring failed and none succeeded: signal 6"; got.Error != want {
			t.Errorf("trial %+v, want %q", got, want)
		}
		return nil
	})))
}

// resume resumes the campaign in a folder. It does not write to the journal.
func resume(ctx context.Context, dir string) error {
	c, _, contents, err := assembly.RestoreAll(dir)
	if err != nil {
		return err
	}
	_, err = c.Run(ctx, contents.State(), nil, nil)
	return err
}

// started returns a connected campaign whose journal has the first batch and the given records. Its folder
// contains one complete and one incomplete job folder.
func started(t *testing.T, records func(coll.Candidate) []journal.Record) *assembly.Campaign {
	t.Helper()
	c := connected(t)
	j := campaigntest.Begin(t, c.Config)
	t.Cleanup(func() { _ = j.Close() }) // the journal may have been removed
	p := c.Problems[0].Problem
	cand := c.Problems[0].Space.Candidates()[0]
	all := append([]journal.Record{{Kind: journal.KindBatch, Round: 1, Batch: []coll.Candidate{cand}}}, records(cand)...)
	for _, r := range all {
		r.Problem = p
		testutil.NoError(t, j.Append(r))
	}
	for _, name := range []string{"first", ".new-first"} {
		testutil.NoError(t, os.MkdirAll(filepath.Join(c.Config.Output, "jobs", name), 0o777))
	}
	return c
}

func jobIn(state coll.JobState) journal.Record {
	j := coll.Job{Name: "first", State: state, Nodes: 1, Requests: []int{0}}
	if state != coll.JobIntended {
		j.ID = "1"
	}
	return journal.Record{Kind: journal.KindJob, Round: 1, Job: &j}
}

// TestWithdraw checks that Withdraw removes a campaign only if no job was accepted and nothing was
// measured.
func TestWithdraw(t *testing.T) {
	for _, tc := range []struct {
		name    string
		records func(coll.Candidate) []journal.Record
		removed bool
	}{
		{"nothing submitted", func(coll.Candidate) []journal.Record { return nil }, true},
		{"rejected", func(coll.Candidate) []journal.Record { return []journal.Record{jobIn(coll.JobIntended)} }, true},
		{"accepted", func(coll.Candidate) []journal.Record {
			return []journal.Record{jobIn(coll.JobIntended), jobIn(coll.JobSubmitted)}
		}, false},
		{"accepted and ended", func(coll.Candidate) []journal.Record {
			return []journal.Record{jobIn(coll.JobIntended), jobIn(coll.JobSubmitted), jobIn(coll.JobEnded)}
		}, false},
		{"measured", func(c coll.Candidate) []journal.Record {
			return []journal.Record{jobIn(coll.JobIntended), {Kind: journal.KindTrial, Round: 1, Trial: &coll.Trial{
				Measurement: coll.Measurement{Candidate: c}, Attempt: 1, State: coll.TrialFailed, Phase: "run", Error: "crashed",
			}}}
		}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := started(t, tc.records)
			out := c.Config.Output
			removed, err := c.Withdraw(t.Context())
			if err != nil || removed != tc.removed {
				t.Fatalf("Withdraw = %t, %v, want %t", removed, err, tc.removed)
			}
			for _, name := range []string{journal.FileName, "jobs/.new-first"} {
				if _, err := os.Stat(filepath.Join(out, name)); errors.Is(err, os.ErrNotExist) != tc.removed {
					t.Errorf("%s is removed: %t, want %t", name, err != nil, tc.removed)
				}
			}
		})
	}
}

// TestWithdrawKeepsOtherFiles checks that Withdraw does not remove users' files from the folder of jobs.
func TestWithdrawKeepsOtherFiles(t *testing.T) {
	c := started(t, func(coll.Candidate) []journal.Record { return []journal.Record{jobIn(coll.JobIntended)} })
	other := filepath.Join(c.Config.Output, "jobs", "notes")
	testutil.NoError(t, os.WriteFile(other, []byte("mine"), 0o666))
	if removed, err := c.Withdraw(t.Context()); err != nil || !removed {
		t.Fatalf("Withdraw = %t, %v", removed, err)
	}
	remaining, err := os.ReadDir(filepath.Dir(other))
	if err != nil || len(remaining) != 1 {
		t.Errorf("files in the folder of jobs: %v, %v, want the notes only", remaining, err)
	}
}

// TestWithdrawWithoutJournal checks that Withdraw returns an error if there is no journal.
func TestWithdrawWithoutJournal(t *testing.T) {
	if removed, err := connected(t).Withdraw(t.Context()); removed || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Withdraw = %t, %v, want no journal", removed, err)
	}
}
