package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
)

// TestCancelLocal kills tutti during a job. It checks that `tutti cancel` then ends the job, and that `tutti
// resume` completes the campaign. Then it does so with the first job of its verification.
func TestCancelLocal(t *testing.T) {
	t.Parallel()
	testutil.SkipShort(t)
	dir := t.TempDir()
	campaigntest.Fake(t, dir, "local")
	out := filepath.Join(dir, "out")
	fakePace(t, dir, "0.3")
	cmd, output := process(t, dir, "tune", "-c", "small.yaml")
	code := endWhen(t, cmd, os.Kill, func() bool { // of a problem, after the launch that reads the settings of the machine
		return journalLines(t, out) > 7 && len(openOf(t, out, coll.JobSubmitted)) == 1
	})
	if code != -1 {
		t.Fatalf("exit code %d\n%s", code, output)
	}
	if len(processesIn(t, out)) == 0 {
		t.Error("the job ended with tutti")
	}
	for range 2 { // cancel may be repeated
		stdout, _ := mustTutti(t, codeDone, "cancel", out)
		if !strings.HasPrefix(stdout, "1 job cancelled; resume with: tutti resume ") {
			t.Errorf("stdout %q", stdout)
		}
		waitUntilIdle(t, dir)
	}
	fakePace(t, dir, "")
	mustEnd(t, dir, []exitCode{codeDone}, "resume", "out")
	checkJournal(t, out).checkLedger(t, dir, true)
	if stdout, _ := mustTutti(t, codeDone, "cancel", out); stdout != "no jobs in the queue\n" {
		t.Errorf("stdout %q", stdout)
	}
	fakePace(t, dir, "0.3")
	cmd, output = process(t, dir, "verify", "out", "--yes")
	if code := endWhen(t, cmd, os.Kill, func() bool { return len(openOf(t, out, coll.JobSubmitted)) == 1 }); code != -1 { // it reads the settings
		t.Fatalf("verify: exit code %d\n%s", code, output)
	}
	if stdout, _ := mustTutti(t, codeDone, "cancel", out); !strings.HasPrefix(stdout, "1 job cancelled; resume with: tutti verify ") {
		t.Errorf("verify: stdout %q", stdout)
	}
	waitUntilIdle(t, dir)
}

// openOf returns the open jobs of the campaign in the folder `out` that are in the given state. Without a
// journal there are none.
func openOf(t *testing.T, out string, state coll.JobState) []coll.Job {
	t.Helper()
	if journalLines(t, out) == 0 {
		return nil
	}
	var jobs []coll.Job
	for _, j := range campaigntest.State(recordsOf(t, out)).OpenJobs() {
		if j.State == state {
			jobs = append(jobs, j)
		}
	}
	return jobs
}
