package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
)

// TestNoStart checks a campaign whose benchmark programs cannot start. It ends after one job without a
// trial, and its folder has a report. After the cause is removed, resume completes the campaign.
func TestNoStart(t *testing.T) {
	t.Parallel()
	testutil.SkipShort(t)
	dir := t.TempDir()
	file := campaigntest.Fake(t, dir, "local")
	out := filepath.Join(dir, "out")
	launcher := filepath.Join(dir, "mpirun")
	good := readFile(t, launcher)
	const broken = "#!/bin/sh\necho 'osu_bcast: error while loading shared libraries: libmpi.so.40' >&2\necho 'mpirun: ended' >&2\nexit 127\n"
	testutil.NoError(t, os.WriteFile(launcher, []byte(broken), 0o777))
	for round := 1; round <= 2; round++ {
		args := []string{"tune", "-c", file}
		if round == 2 {
			args = []string{"resume", out}
		}
		_, stderr := mustTutti(t, codeNotReady, args...)
		for _, want := range []string{"no benchmark started: job tutti-", "exit code 127: mpirun: ended", "its first message: osu_bcast: error while loading", "Fix this, then resume with: tutti resume "} {
			if !strings.Contains(stderr, want) {
				t.Errorf("%v: no %q in %q", args, want, stderr)
			}
		}
		jobs, trials := countRecords(t, out)
		if jobs != round || trials != 0 {
			t.Errorf("%v: %d jobs and %d trials, want %d and none", args, jobs, trials, round)
		}
	}
	stdout, _ := mustTutti(t, codeDone, "report", out)
	if !strings.Contains(stdout, "no measurements in 2 jobs") || strings.Count(stdout, "error while loading") != 2 {
		t.Errorf("report: %q", stdout)
	}
	stdout, _ = mustTutti(t, codeDone, "report", out, "--format", "json")
	var n emptyResult
	if err := json.Unmarshal([]byte(stdout), &n); err != nil || len(n.FailedJobs) != 2 || n.Failed != 0 {
		t.Errorf("report --format json: %v, %+v", err, n)
	}

	testutil.NoError(t, os.WriteFile(launcher, good, 0o777))
	mustTutti(t, codeDone, "resume", out)
	l := checkJournal(t, out)
	l.checkLedger(t, dir, false)
	l.checkReport(t, out)
}

// countRecords returns the number of jobs and the number of trials in the journal.
func countRecords(t *testing.T, out string) (jobs, trials int) {
	t.Helper()
	for _, r := range recordsOf(t, out) {
		switch {
		case r.Job != nil && r.Job.State == coll.JobIntended:
			jobs++
		case r.Trial != nil:
			trials++
		}
	}
	return jobs, trials
}

// TestPreflight checks that tune reports what is missing before it writes anything.
func TestPreflight(t *testing.T) {
	dir := t.TempDir()
	file := campaigntest.Fake(t, dir, "local")
	testutil.NoError(t, os.RemoveAll(filepath.Join(dir, "osu")))
	_, stderr := mustTutti(t, codeNotReady, "tune", "-c", file)
	if !strings.Contains(stderr, "missing  openmpi benchmark  no OSU program in") || !strings.Contains(stderr, "--skip-checks") {
		t.Errorf("stderr %q", stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("the campaign was begun")
	}
	if testing.Short() {
		return
	}
	if _, stderr = mustTutti(t, codeNotReady, "tune", "-c", file, "--skip-checks"); !strings.Contains(stderr, "no benchmark started") {
		t.Errorf("stderr %q", stderr)
	}
}
