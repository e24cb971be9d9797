package service_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tutti/internal/testutil"
	"tutti/journal"
	"tutti/service"
)

// follow reads a feed to its end, in pages of the given number of events.
func follow(f service.Feed, after int64, page int) []service.Event {
	var out []service.Event
	for {
		ended := f.Ended() // before After, so that no event is missed
		events, more := f.After(after, page)
		out = append(out, events...)
		if len(events) > 0 {
			after = events[len(events)-1].Seq
			continue
		}
		if ended {
			return out
		}
		select {
		case <-more:
		case <-time.After(testutil.HangTimeout):
			return out
		}
	}
}

// checkEvents checks that the events after the number `after` equal the lines of the journal after that
// line.
func checkEvents(t *testing.T, events []service.Event, after int64, journal string) {
	t.Helper()
	lines := slices.Collect(strings.Lines(journal))
	if len(events) != len(lines)-int(after) {
		t.Fatalf("%d events after %d, want %d", len(events), after, len(lines)-int(after))
	}
	for i, e := range events {
		if e.Seq != after+int64(i)+1 || string(e.Data) != strings.TrimSpace(lines[e.Seq-1]) || e.Time.IsZero() || e.Type == "" {
			t.Fatalf("event %d is %+v, want line %d of the journal", i, e, after+int64(i)+1)
		}
	}
}

// TestFeed checks that every reader gets every line once. It reads while a campaign runs, and after a restart
// of the service.
func TestFeed(t *testing.T) {
	state := t.TempDir()
	b := base(t, "b", fakeFile{Trials: 1500})
	s, stop := running(t, options(t, state, b))
	id := create(t, s, service.Request{Base: "b"})
	feed := testutil.Must(s.Feed(t.Context(), id))(t)
	var readers sync.WaitGroup
	seen := make([][]service.Event, 10)
	for i := range seen {
		readers.Go(func() { seen[i] = follow(feed, int64(100*i), 20+50*i) })
	}
	readers.Wait()
	awaitState(t, s, id, service.Done)
	content := testutil.Must(os.ReadFile(filepath.Join(state, "campaigns", id, "results", journal.FileName)))(t)
	for i, events := range seen {
		checkEvents(t, events, int64(100*i), string(content))
	}
	checkEvents(t, follow(feed, 0, 0), 0, string(content))
	stop()
	s, _ = running(t, options(t, state, b))
	feed = testutil.Must(s.Feed(t.Context(), id))(t)
	checkEvents(t, follow(feed, 0, 0), 0, string(content))
	checkEvents(t, follow(feed, 4300, 10), 4300, string(content))
	if events, _ := feed.After(1e9, 0); len(events) != 0 {
		t.Errorf("%d events after the last", len(events))
	}
}

// TestServiceEvents checks that the service's own events have the same numbers after a restart.
func TestServiceEvents(t *testing.T) {
	state := t.TempDir()
	b := base(t, "b", fakeFile{Trials: 2})
	s, stop := running(t, options(t, state, b))
	id := runToEnd(t, s, service.Request{Base: "b"})
	stop()
	before := follow(s.Events(), 0, 0)
	var states []service.State
	for _, e := range before {
		var c service.Campaign
		if err := json.Unmarshal(e.Data, &c); err != nil || e.Type != "campaign" || c.ID != id {
			t.Fatalf("event %s %s: %v", e.Type, e.Data, err)
		}
		states = append(states, c.State)
	}
	if want := []service.State{service.Queued, service.Running, service.Done}; !slices.Equal(states, want) {
		t.Errorf("events have the states %v, want %v", states, want)
	}
	s, stop = running(t, options(t, state, b))
	create(t, s, service.Request{Base: "b"})
	again, _ := s.Events().After(0, 0)
	if len(again) <= len(before) || again[len(before)].Seq != int64(len(before))+1 {
		t.Fatalf("%d events after the restart, had %d", len(again), len(before))
	}
	for i, e := range before {
		if again[i].Seq != e.Seq || string(again[i].Data) != string(e.Data) {
			t.Errorf("event %d has become %+v, was %+v", i, again[i], e)
		}
	}
	stop()
}
