package journal_test

import (
	"fmt"
	"testing"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
)

// manyRecords returns about 100 000 records of one problem, with ten jobs in each round and ten trials in
// each job. The records also contain a verification with the same number of rounds.
func manyRecords() []journal.Record {
	var out []journal.Record
	for round := 1; round <= 400; round++ {
		batch := make([]coll.Candidate, 100)
		for i := range batch {
			batch[i] = coll.Candidate{
				Point: coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: int64(100*round + i)}, Algorithm: coll.Algorithm{Name: "ring"},
			}
		}
		out = append(out, journal.Record{Kind: journal.KindBatch, Problem: bcast, Round: round, Batch: batch})
		for j := range 10 {
			name := fmt.Sprintf("r%d-%d", round, j)
			for i, state := range []coll.JobState{coll.JobIntended, coll.JobSubmitted, coll.JobEnded} {
				out = append(out, jobRecord(bcast, round, name, state, i))
				out = append(out, journal.Record{Kind: journal.KindVerify, Verify: &journal.VerifyStep{
					Library: "mpich", Session: 1, Round: round, Stage: 1, Job: &coll.Job{Name: "v" + name, State: state},
				}})
			}
			for _, c := range batch[10*j : 10*j+10] {
				t := trialRecord(bcast, round, c, 1e-6, coll.TrialDone)
				out = append(out, t, journal.Record{Kind: journal.KindVerify, Verify: &journal.VerifyStep{Library: "mpich", Session: 1, Round: round, Stage: 1, Trial: t.Trial}})
			}
		}
		out = append(out, journal.Record{Kind: journal.KindEvaluation, Problem: bcast, Round: round, Evaluation: &activelearn.Evaluation{Round: round}})
	}
	return out
}

// BenchmarkReplay restores the state from a journal of 100 000 records.
func BenchmarkReplay(b *testing.B) {
	records := manyRecords()
	for b.Loop() {
		campaigntest.State(records)
	}
}

// BenchmarkMeasurements collects the latest measurements of 40 000 candidates.
func BenchmarkMeasurements(b *testing.B) {
	p := campaigntest.State(manyRecords()).Problem(bcast)
	for b.Loop() {
		testutil.Must(p.Measurements(1))(b)
	}
}
