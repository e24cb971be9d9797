package service

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/jonboulle/clockwork"

	"tutti/internal/testutil"
	"tutti/journal"
)

// TestEventLogBoundsLines checks that a very long line without a line end is an error, and that reading it
// needs little memory.
func TestEventLogBoundsLines(t *testing.T) {
	testutil.SkipShort(t)
	const huge = 1 << 30 // bytes of a sparse file
	path := filepath.Join(t.TempDir(), journal.FileName)
	line := `{"kind":"header","created":"2026-03-01T12:00:00Z"}` + "\n"
	err := os.WriteFile(path, []byte(line), 0o600)
	if err == nil {
		err = os.Truncate(path, huge)
	}
	testutil.NoError(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := newEventLog(path)
	if err := r.update(context.Background(), nil); !errors.Is(err, journal.ErrCorrupt) {
		t.Errorf("advance = %v, want %v", err, journal.ErrCorrupt)
	}
	if got, _ := r.After(0, 10); len(got) != 1 {
		t.Errorf("%d events are read from the file, want the header", len(got))
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 20*journal.MaxLine {
		t.Errorf("reading took %d MiB, want a small multiple of a line, %d MiB", took>>20, journal.MaxLine>>20)
	}
	if r.Last() != 1 {
		t.Errorf("%d events, want the header", r.Last())
	}
}

// TestEventLogBoundsPages checks that After returns few events at once if their lines are long, and that
// repeated calls return all events.
func TestEventLogBoundsPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), journal.FileName)
	line := `{"kind":"hpo","hpo":"` + strings.Repeat("x", pageBytes/3) + `"}` + "\n"
	testutil.NoError(t, os.WriteFile(path, []byte(strings.Repeat(line, 8)), 0o600))
	r := newEventLog(path)
	testutil.NoError(t, r.update(context.Background(), nil))
	for seq := int64(0); seq < 8; {
		events, _ := r.After(seq, 0)
		if len(events) < 1 || len(events) > 3 || events[0].Seq != seq+1 {
			t.Fatalf("%d events after %d, want one to three and none left out", len(events), seq)
		}
		seq += int64(len(events))
	}
}

// TestServiceLogAfterIncompleteWrite checks that an incomplete last line is removed before the next
// event is appended.
func TestServiceLogAfterIncompleteWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	var published map[string]State
	open := func() (l *serviceLog) {
		t.Helper()
		var err error
		l, published, err = openServiceLog(path, clockwork.NewFakeClock(), slog.New(slog.DiscardHandler))
		testutil.NoError(t, err)
		return l
	}
	j := open()
	publish := func(id string, s State) {
		t.Helper()
		testutil.NoError(t, j.publish(campaignEvent, Campaign{ID: id, State: s}))
	}
	publish("a", Queued)
	if _, err := j.file.WriteString(`{"kind":"camp`); err != nil {
		t.Fatal(err)
	}
	testutil.NoError(t, j.truncate())
	publish("b", Done)
	if _, err := j.file.WriteString(`{"kind"`); err != nil { // as a service that dies while it writes
		t.Fatal(err)
	}
	testutil.NoError(t, j.close())
	j = open()
	publish("a", Running)
	events, _ := j.log.After(0, 0)
	testutil.NoError(t, j.close())
	if len(events) != 3 {
		t.Errorf("%d events, want 3", len(events))
	}
	if j = open(); published["a"] != Running || published["b"] != Done {
		t.Errorf("published states %v, want a running and b done", published)
	}
	if content, err := os.ReadFile(path); err != nil || int64(len(content)) != j.log.size() {
		t.Errorf("%d bytes, %v, want the %d of whole lines", len(content), err, j.log.size())
	}
	testutil.NoError(t, j.close())
}
