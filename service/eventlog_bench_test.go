package service

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
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

// BenchmarkAfter measures the time to read a page of 256 events.
func BenchmarkAfter(b *testing.B) {
	const trials, page = 10_000, 256
	path := journalOf(b, trials)
	r := newEventLog(path)
	testutil.NoError(b, r.update(context.Background(), nil))
	b.ReportAllocs()
	for b.Loop() {
		if events, _ := r.After(1000, page); len(events) != page {
			b.Fatalf("%d events", len(events))
		}
	}
}

// BenchmarkFanOut measures the time until all readers of an event log have received a new event.
func BenchmarkFanOut(b *testing.B) {
	for _, readers := range []int{1, 200, 1000} {
		b.Run(fmt.Sprint(readers), func(b *testing.B) { fanOut(b, readers) })
	}
}

func fanOut(b *testing.B, readers int) {
	path := filepath.Join(b.TempDir(), journal.FileName)
	f := testutil.Must(os.Create(path))(b)
	defer f.Close()
	r := newEventLog(path)
	var seen sync.WaitGroup // counts the readers that have not received the last event
	var gone sync.WaitGroup
	for range readers {
		gone.Go(func() {
			for after := int64(0); ; {
				events, more := r.After(after, 0)
				for range events {
					seen.Done()
				}
				after += int64(len(events))
				if len(events) == 0 {
					if r.Ended() {
						return
					}
					<-more
				}
			}
		})
	}
	b.ReportAllocs()
	for b.Loop() {
		seen.Add(readers)
		if _, err := f.WriteString(`{"kind":"stop","time":"2026-03-01T12:00:00Z","stop":"budget"}` + "\n"); err != nil {
			b.Fatal(err)
		}
		testutil.NoError(b, r.update(context.Background(), nil))
		seen.Wait()
	}
	r.setEnded(true)
	gone.Wait()
}
