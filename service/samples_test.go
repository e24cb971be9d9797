package service_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/online"
	"tutti/service"
)

// fakeUpdate acts as the command "tutti online update" in tests. The number of calls in its report is the total
// size of the samples in bytes. The drift in its report comes from a file named drift in the folder.
func fakeUpdate(args []string, campaign string) int {
	folder := args[2]
	paths, err := filepath.Glob(filepath.Join(folder, "*.samples"))
	if err != nil {
		return fail(1, err)
	}
	var r online.Report
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return fail(1, err)
		}
		if string(content) == "broken" {
			return fail(3, os.ErrInvalid)
		}
		r.Calls, r.AllJobs = r.Calls+len(content), r.AllJobs+1
	}
	if campaign != "" {
		d := online.SourceDrift{Source: campaign, Candidates: 8}
		if content, err := os.ReadFile(filepath.Join(folder, "drift")); err == nil {
			if err := json.Unmarshal(content, &d.Change); err != nil {
				return fail(1, err)
			}
		}
		r.Drift = append(r.Drift, d)
	}
	note(filepath.Join(folder, "calls.txt"), strings.Join(args, " "))
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		return fail(1, err)
	}
	return 0
}

// awaitStatus waits until the status of the only folder of samples satisfies a condition.
func awaitStatus(t *testing.T, s *service.Service, holds func(service.SampleStatus) bool) (o service.SampleStatus) {
	t.Helper()
	waitUntil(t, func() bool {
		o = s.Samples()[0]
		return holds(o)
	}, func() string { return fmt.Sprintf("%+v, report %+v", o, o.Report) })
	return o
}

// TestWatch checks that only new samples cause an update. If a folder or its samples cannot be read, the
// status must show an error. After a restart the status must be the same.
func TestWatch(t *testing.T) {
	folder, state := filepath.Join(t.TempDir(), "learned"), t.TempDir()
	opt := options(t, state, base(t, "a", fakeFile{Trials: 1}))
	opt.Online = []config.SampleFolder{{Name: "app", Folder: folder, Release: "1+mpich-4.0.2", Exclude: []string{"ring"}, Every: 2 * time.Millisecond}}
	s, stop := running(t, opt)
	awaitStatus(t, s, func(o service.SampleStatus) bool {
		return strings.Contains(o.Error, "create it with tutti online update "+folder)
	})
	testutil.NoError(t, os.Mkdir(folder, 0o700))
	awaitStatus(t, s, func(o service.SampleStatus) bool { return o.Error == "" && o.Report != nil })
	putFile(t, folder, "x.samples", "12345")
	awaitStatus(t, s, func(o service.SampleStatus) bool { return o.Report.Calls == 5 })
	putFile(t, folder, "y.samples", "broken")
	o := awaitStatus(t, s, func(o service.SampleStatus) bool { return o.Error != "" })
	if !strings.Contains(o.Error, "exit code 3: tutti: invalid argument") || o.Report.Calls != 5 {
		t.Errorf("error %q, report %+v: want what tutti said, and the report before", o.Error, o.Report)
	}
	putFile(t, folder, "y.samples", "123456")
	awaitStatus(t, s, func(o service.SampleStatus) bool { return o.Error == "" && o.Report.Calls == 11 })
	stop()

	commands := testutil.Must(os.ReadFile(filepath.Join(folder, "calls.txt")))(t)
	if want := "online update " + folder + " " + filepath.Join(state, "online", "app") + ` --format json --release 1+mpich-4.0.2 --exclude "ring"` + "\n"; strings.Count(string(commands), want) < 3 {
		t.Errorf("commands %s, want %s", commands, want)
	}
	s, stop = running(t, opt)
	defer stop()
	first := s.Samples()[0].Checked
	if o := awaitStatus(t, s, func(o service.SampleStatus) bool { return o.Checked.After(first) }); o.Report.Calls != 11 {
		t.Errorf("after a restart %+v", o)
	}
	if again, err := os.ReadFile(filepath.Join(folder, "calls.txt")); err != nil || len(again) != len(commands) {
		t.Errorf("an update after a restart without a change: %s, %v", again[len(commands):], err)
	}
	published := 0
	events, _ := s.Events().After(0, 0)
	for _, e := range events {
		if e.Type == "online" {
			published++
		}
	}
	if published < 5 {
		t.Errorf("%d events, want one for each change", published)
	}
}

// TestWatchForeignTable checks that the service writes no table into a folder in which other users can write.
func TestWatchForeignTable(t *testing.T) {
	folder, table := t.TempDir(), t.TempDir()
	testutil.NoError(t, os.Chmod(table, 0o777))
	opt := options(t, t.TempDir())
	opt.Online = []config.SampleFolder{{Name: "app", Folder: folder, Table: table, Every: time.Hour}}
	s, stop := running(t, opt)
	defer stop()
	awaitStatus(t, s, func(o service.SampleStatus) bool { return strings.Contains(o.Error, table+": mode 0777") })
}

// TestWatchDrift checks that the service creates a campaign if the times of applications differ from those
// of the last campaign.
func TestWatchDrift(t *testing.T) {
	testutil.SkipShort(t)
	folder := t.TempDir()
	opt := options(t, t.TempDir(), base(t, "a", fakeFile{Trials: 1}))
	opt.Online = []config.SampleFolder{{Name: "app", Folder: folder, Base: "a", Every: 2 * time.Millisecond, Drift: 0.2}}
	s, stop := running(t, opt)
	defer stop()
	awaitStatus(t, s, func(o service.SampleStatus) bool { return o.Report != nil })
	first, _, err := s.Create(t.Context(), service.Request{Base: "a"}, "")
	testutil.NoError(t, err)
	putFile(t, folder, "drift", "0.1")
	awaitStatus(t, s, func(o service.SampleStatus) bool { return strings.HasPrefix(o.Decision, "no campaign: 8 candidates") })
	if n := len(s.Campaigns()); n != 1 {
		t.Fatalf("%d campaigns, want the one that was asked for", n)
	}
	putFile(t, folder, "drift", "0.3")
	putFile(t, folder, "x.samples", "1")
	o := awaitStatus(t, s, func(service.SampleStatus) bool { return len(s.Campaigns()) > 1 })
	second := s.Campaigns()[0]
	if want := "8 candidates timed by applications differ from campaign " + first.ID + " by 30.0 %"; !strings.Contains(second.Reason, want) || second.Base != "a" {
		t.Errorf("campaign %+v, decision %q: want %s", second, o.Decision, want)
	}
	putFile(t, folder, "drift", "0")
	awaitStatus(t, s, func(o service.SampleStatus) bool {
		return strings.Contains(o.Decision, "differ from campaign "+second.ID+" by 0.0 %")
	})
}
