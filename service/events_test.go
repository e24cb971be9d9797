package service

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jonboulle/clockwork"
)

// What a write that broke off has left is cut off, and the row goes on.
func TestEventsAfterABrokenWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	open := func() *journalOfService {
		t.Helper()
		j, err := openEvents(path, clockwork.NewFakeClock())
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	j := open()
	tell := func(id string, s State) {
		t.Helper()
		if err := j.append(campaignEvent, Campaign{ID: id, State: s}); err != nil {
			t.Fatal(err)
		}
	}
	tell("a", Queued)
	if _, err := j.file.WriteString(`{"kind":"camp`); err != nil {
		t.Fatal(err)
	}
	if err := j.cut(); err != nil {
		t.Fatal(err)
	}
	tell("b", Done)
	if _, err := j.file.WriteString(`{"kind"`); err != nil { // and the service dies
		t.Fatal(err)
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	j = open()
	tell("a", Running)
	events, _ := j.row.After(0, 0)
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	if len(events) != 3 || j.last["a"] != Queued || j.last["b"] != Done {
		t.Errorf("%d events, last told %v, want 3 and those of the first two", len(events), j.last)
	}
	if j = open(); j.last["a"] != Running {
		t.Errorf("last told %v, want a as running", j.last)
	}
	if content, err := os.ReadFile(path); err != nil || int64(len(content)) != j.row.bytes() {
		t.Errorf("%d bytes, %v, want the %d of whole lines", len(content), err, j.row.bytes())
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
}
