package assembly_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
)

// begun is a connected campaign whose first round is in the journal, followed by records
// of one job, with a folder for the job and one that a kill left half made.
func begun(t *testing.T, records func(coll.Candidate) []journal.Record) *assembly.Campaign {
	t.Helper()
	c := connected(t)
	j := campaigntest.Begin(t, c.Config)
	t.Cleanup(func() { _ = j.Close() }) // of a journal that may be gone
	p := c.Problems[0].Problem
	cand := c.Problems[0].Space.Candidates()[0]
	all := append([]journal.Record{{Kind: journal.KindBatch, Round: 1, Batch: []coll.Candidate{cand}}}, records(cand)...)
	for _, r := range all {
		r.Problem = p
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"first", ".new-first"} {
		if err := os.MkdirAll(filepath.Join(c.Config.Output, "jobs", name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func jobIn(state coll.JobState) journal.Record {
	j := coll.Job{Name: "first", State: state, Nodes: 1, Carries: []int{0}}
	if state != coll.JobIntended {
		j.ID = "1"
	}
	return journal.Record{Kind: journal.KindJob, Round: 1, Job: &j}
}

// A campaign is taken back while no job was taken and nothing was measured, and left
// alone afterwards.
func TestWithdraw(t *testing.T) {
	for _, tc := range []struct {
		name    string
		records func(coll.Candidate) []journal.Record
		gone    bool
	}{
		{"nothing submitted", func(coll.Candidate) []journal.Record { return nil }, true},
		{"rejected", func(coll.Candidate) []journal.Record { return []journal.Record{jobIn(coll.JobIntended)} }, true},
		{"taken", func(coll.Candidate) []journal.Record {
			return []journal.Record{jobIn(coll.JobIntended), jobIn(coll.JobSubmitted)}
		}, false},
		{"taken and over", func(coll.Candidate) []journal.Record {
			return []journal.Record{jobIn(coll.JobIntended), jobIn(coll.JobSubmitted), jobIn(coll.JobEnded)}
		}, false},
		{"measured", func(c coll.Candidate) []journal.Record {
			return []journal.Record{jobIn(coll.JobIntended), {Kind: journal.KindTrial, Round: 1, Trial: &coll.Trial{
				Measurement: coll.Measurement{Candidate: c}, Attempt: 1, State: coll.TrialFailed, Phase: "run", Error: "crashed",
			}}}
		}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := begun(t, tc.records)
			out := c.Config.Output
			gone, err := c.Withdraw(t.Context())
			if err != nil || gone != tc.gone {
				t.Fatalf("Withdraw = %t, %v, want %t", gone, err, tc.gone)
			}
			for _, name := range []string{journal.FileName, "jobs/.new-first"} {
				if _, err := os.Stat(filepath.Join(out, name)); errors.Is(err, os.ErrNotExist) != tc.gone {
					t.Errorf("%s is gone: %t, want %t", name, err != nil, tc.gone)
				}
			}
		})
	}
}

// What others have put beside the jobs stays.
func TestWithdrawKeepsWhatIsNotItsOwn(t *testing.T) {
	c := begun(t, func(coll.Candidate) []journal.Record { return []journal.Record{jobIn(coll.JobIntended)} })
	other := filepath.Join(c.Config.Output, "jobs", "notes")
	if err := os.WriteFile(other, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if gone, err := c.Withdraw(t.Context()); err != nil || !gone {
		t.Fatalf("Withdraw = %t, %v", gone, err)
	}
	left, err := os.ReadDir(filepath.Dir(other))
	if err != nil || len(left) != 1 {
		t.Errorf("left in the folder of jobs: %v, %v, want the notes alone", left, err)
	}
}

// Without a journal there is nothing to take back.
func TestWithdrawNothing(t *testing.T) {
	if gone, err := connected(t).Withdraw(t.Context()); gone || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Withdraw = %t, %v, want no journal", gone, err)
	}
}
