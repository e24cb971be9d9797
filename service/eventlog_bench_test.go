package service

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/journal"
)

// journalOf writes a journal with the given number of trials and returns the journal's path.
func journalOf(b *testing.B, trials int) string {
	b.Helper()
	content := []byte(`{"kind":"header","schema":3,"created":"2026-03-01T12:00:00Z","spec":{"libraries":[{"name":"mpich"}],"collectives":["bcast"]}}` + "\n")
	for i := range trials {
		c := coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 16, PPN: 4, MsgBytes: int64(i + 1)}, Algorithm: coll.Algorithm{Name: "binomial"}}
		t := coll.Trial{Measurement: coll.Measurement{Candidate: c, Seconds: 1e-5, CostSeconds: 1.5}, Attempt: 1, State: coll.TrialDone}
		line, err := json.Marshal(journal.Record{
			Kind: journal.KindTrial, Time: time.Unix(0, 0).UTC(), Problem: journal.Problem{Library: "mpich", Collective: coll.Bcast}, Round: 1, Trial: &t,
		})
		testutil.NoError(b, err)
		content = append(append(content, line...), '\n')
	}
	path := filepath.Join(b.TempDir(), journal.FileName)
	testutil.NoError(b, os.WriteFile(path, content, 0o600))
	b.SetBytes(int64(len(content)))
	return path
}

// BenchmarkUpdate measures the time to read a journal of 10 000 trials and to compute its summary.
func BenchmarkUpdate(b *testing.B) {
	path := journalOf(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		testutil.NoError(b, newJournalView(path, clockwork.NewRealClock()).update(context.Background()))
	}
}
