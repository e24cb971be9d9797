package service_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/journal"
	"tutti/service"
)

// TestDamagedEntries checks that the service starts whatever is in its state folder, lists what it cannot read with
// the reason, and runs the other campaigns.
func TestDamagedEntries(t *testing.T) {
	put := func(path, text string) error {
		return errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
	}
	campaign := func(name, text string) func(string) error {
		return func(state string) error { return put(filepath.Join(state, "campaigns", name, "campaign.json"), text) }
	}
	pipe := func(names ...string) func(string) error {
		return func(state string) error {
			path := filepath.Join(append([]string{state}, names...)...)
			return errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o700), syscall.Mkfifo(path, 0o600))
		}
	}
	file := func(name, text string) func(string) error {
		return func(state string) error { return put(filepath.Join(state, name), text) }
	}
	tests := []struct {
		name   string
		damage func(state string) error
		id     string // of the entry that is listed as unreadable
		reason string
	}{
		{"stray file", func(state string) error { return put(filepath.Join(state, "campaigns", "notes.txt"), "x") }, "notes.txt", "not a directory"},
		{"copy", campaign("x.bak", `{"id":"x","state":"done"}`), "x.bak", "want \"x.bak\", the name of the folder"},
		{"empty", campaign("x", ""), "x", "EOF"},
		{"NULs", campaign("x", strings.Repeat("\x00", 100)), "x", "invalid character"},
		{"newer", campaign("x", `{"id":"x","state":"done","later":1}`), "x", "unknown field \"later\""},
		{"two objects", campaign("x", `{"id":"x","state":"done"}{}`), "x", "text after"},
		{"no such state", campaign("x", `{"id":"x","state":"resting"}`), "x", "want one of"},
		{"no such goal", campaign("x", `{"id":"x","state":"stopping","goal":"rest"}`), "x", "goal"},
		{"a folder instead", func(state string) error {
			return os.MkdirAll(filepath.Join(state, "campaigns", "x", "campaign.json"), 0o700)
		}, "x", "regular file"},
		{"only results", func(state string) error { return put(filepath.Join(state, "campaigns", "x", "log.txt"), "") }, "x", "no such file"},
		{"named pipe", pipe("campaigns", "x", "campaign.json"), "x", "regular file"},
		{"stray pipe", pipe("campaigns", "x"), "x", "not a directory"},
		{"event", file("events.jsonl", "not an event\n"+`{"kind":"schedule","time":"2026-03-01T12:00:00Z","data":{}}`+"\n"), "", ""},
		{"events that are a pipe", pipe("events.jsonl"), "", ""},
		{"schedule", file("schedule.json", "{"), "", ""},
		{"schedule that is a pipe", pipe("schedule.json"), "", ""},
		{"quota", file("quota.json", "[]"), "", ""},
		{"quota that is a pipe", pipe("quota.json"), "", ""},
		{"status of samples", file("online/o/online.json", "{"), "", ""},
	}
	for i, tc := range tests {
		if testing.Short() && i%6 > 0 {
			continue // the race detector needs few cases
		}
		t.Run(tc.name, func(t *testing.T) {
			state := t.TempDir()
			testutil.NoError(t, os.MkdirAll(filepath.Join(state, "campaigns"), 0o700))
			testutil.NoError(t, tc.damage(state))
			opt := options(t, state, base(t, "b", fakeFile{Trials: 1}))
			opt.Online = []config.SampleFolder{{Name: "o", Folder: state, Every: time.Hour}}
			s, _ := running(t, opt)
			runToEnd(t, s, service.Request{Base: "b"})
			if tc.id == "" {
				return
			}
			c := testutil.Must(s.Campaign(tc.id))(t)
			if c.State != service.Unreadable || !strings.Contains(c.Error, tc.reason) {
				t.Errorf("%s is %s: %q, want it unreadable: %q", tc.id, c.State, c.Error, tc.reason)
			}
			if len(s.Campaigns()) != 2 {
				t.Errorf("campaigns %+v, want two", s.Campaigns())
			}
			if _, err := s.Cancel(tc.id); !errors.Is(err, service.ErrState) {
				t.Errorf("Cancel = %v, want ErrState", err)
			}
		})
	}
}

// TestPipesInFolder checks that named pipes in the folder of a campaign hold up neither the service nor other
// campaigns.
func TestPipesInFolder(t *testing.T) {
	testutil.SkipShort(t)
	for _, name := range []string{"log.txt", "results/" + journal.FileName, "results/" + journal.LockName} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			b := base(t, "b", fakeFile{Trials: 1})
			s, stop := running(t, options(t, state, b))
			id := create(t, s, service.Request{Base: "b"})
			awaitState(t, s, id, service.Done)
			stop()
			dir := filepath.Join(state, "campaigns", id)
			path := filepath.Join(dir, filepath.FromSlash(name))
			testutil.NoError(t, errors.Join(os.RemoveAll(path), syscall.Mkfifo(path, 0o600)))
			content := testutil.Must(os.ReadFile(filepath.Join(dir, "campaign.json")))(t)
			waiting := strings.Replace(string(content), `"state": "done"`, `"state": "queued"`, 1)
			testutil.NoError(t, os.WriteFile(filepath.Join(dir, "campaign.json"), []byte(waiting), 0o600))
			s, _ = running(t, options(t, state, b))
			runToEnd(t, s, service.Request{Base: "b"})
		})
	}
}

// TestDelete checks that a campaign that has ended is deleted with its files, and that others are not.
func TestDelete(t *testing.T) {
	state := t.TempDir()
	bases := []config.Base{base(t, "b", fakeFile{Trials: 1}), base(t, "slow", fakeFile{Trials: 1000, Every: 10 * time.Millisecond})}
	s, stop := running(t, options(t, state, bases...))
	id := create(t, s, service.Request{Base: "b"})
	awaitState(t, s, id, service.Done)
	slow := create(t, s, service.Request{Base: "slow"})
	if _, err := s.Delete(slow); !errors.Is(err, service.ErrState) {
		t.Errorf("Delete of a campaign that runs = %v, want ErrState", err)
	}
	if c, err := s.Delete(id); err != nil || c.State != service.Deleted {
		t.Errorf("Delete = %s, %v", c.State, err)
	}
	if _, err := os.Stat(filepath.Join(state, "campaigns", id)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder: %v, want that it is gone", err)
	}
	for range 2 {
		if _, err := s.Campaign(id); !errors.Is(err, service.ErrNoCampaign) || len(s.Campaigns()) != 1 {
			t.Errorf("Campaign = %v, want ErrNoCampaign; %d campaigns", err, len(s.Campaigns()))
		}
		stop()
		s, stop = running(t, options(t, state, bases...))
	}
}

// TestFolderRemoved checks that the process of a campaign whose folder was removed is ended, and that the machine becomes
// free.
func TestFolderRemoved(t *testing.T) {
	testutil.SkipShort(t)
	state := t.TempDir()
	s, _ := running(t, options(t, state, base(t, "slow", fakeFile{Trials: 10000, Every: 10 * time.Millisecond}), base(t, "b", fakeFile{Trials: 1})))
	id := create(t, s, service.Request{Base: "slow"})
	awaitTrial(t, s, id)
	testutil.NoError(t, os.Rename(filepath.Join(state, "campaigns", id), filepath.Join(t.TempDir(), "moved")))
	next := create(t, s, service.Request{Base: "b"})
	awaitState(t, s, next, service.Done)
	if _, err := s.Cancel(id); !errors.Is(err, service.ErrNoCampaign) {
		t.Errorf("Cancel = %v, want ErrNoCampaign", err)
	}
}
