package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tutti/campaign/export"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
)

// waitForEmptyQueue waits until the queue has no jobs. Slurm may report the end of a job later
// than tutti.
func waitForEmptyQueue(t *testing.T, c *testutil.SlurmCluster) {
	t.Helper()
	left := ""
	for began := time.Now(); time.Since(began) < testutil.HangTimeout; time.Sleep(100 * time.Millisecond) {
		if left = c.Run("squeue", "-h", "-o%j %T"); left == "" {
			return
		}
	}
	t.Errorf("jobs are left: %s", left)
}

// checkQueue checks that each job of the journal was submitted to Slurm once, and that no other
// jobs ran.
func (l liveRun) checkQueue(t *testing.T, c *testutil.SlurmCluster, out string) {
	t.Helper()
	contents := testutil.Must(journal.Read(out))(t)
	given := map[string]int{}
	for _, name := range strings.Fields(c.Run("squeue", "-h", "-tall", "-o%j")) {
		if strings.HasPrefix(name, "tutti-"+contents.Header.ID+"-") {
			given[name]++
		}
	}
	folders := testutil.Must(filepath.Glob(filepath.Join(out, "jobs", "*", "claim")))(t)
	for _, f := range folders {
		if _, known := l.jobs[filepath.Base(filepath.Dir(f))]; !known {
			t.Errorf("%s is of no job", f)
		}
	}
	for name := range l.jobs {
		if given[name] != 1 {
			t.Errorf("Slurm was given job %s %d times", name, given[name])
		}
	}
	if len(given) != len(l.jobs) {
		t.Errorf("Slurm has %d jobs, the journal %d", len(given), len(l.jobs))
	}
}

// TestSlurmMPICH tunes MPICH on eight virtual Slurm nodes, checks the report, loads the files into
// MPICH and verifies the selection.
func TestSlurmMPICH(t *testing.T) {
	testutil.NeedAllCases(t)
	t.Parallel()
	c := testutil.StartSlurm(t, testutil.SlurmOptions{Nodes: 8})
	dir := t.TempDir()
	siteCampaign(t, testutil.MPICH, dir, "mpich.yaml", "SHIM", c.Shim())
	out := filepath.Join(dir, "out")
	began := time.Now()
	code, output := mustEndWith(t, c.Env(), dir, finished, append([]string{"tune", "-c", "c.yaml"}, fewCases()...)...)
	t.Logf("tune took %v, exit code %d", time.Since(began).Round(time.Second), code)
	if stopped := strings.Contains(output, "not converged: "); stopped != (code == codeNotConverged) {
		t.Errorf("exit code %d\n%s", code, output)
	}
	l := checkJournal(t, out)
	l.checkQueue(t, c, out)
	l.checkRan(t, "MPICH Version:4.0.2", regexp.MustCompile(`^n[1-8]$`))
	checkMeasured(t, l)
	if !slices.ContainsFunc(l.trials, func(r journal.Record) bool { return r.Trial.HeldNodes > 0 }) {
		t.Error("no two benchmarks ran side by side")
	}

	stdout, _ := mustTutti(t, codeDone, "report", out)
	if !strings.Contains(stdout, export.ReportHTML) {
		t.Errorf("report: %q", stdout)
	}
	f := l.checkReport(t, out)
	if len(f.Environments) == 0 || len(f.Problems) != 2 {
		t.Errorf("the report has %d problems, environments %+v", len(f.Problems), f.Environments)
	}

	mustTutti(t, codeDone, "export", out, "--out", filepath.Join(dir, "tuned"))
	prog := testutil.BuildProgram(t, testutil.MPICH, testutil.CollectivesProgram)
	loaded := c.Shell(fmt.Sprintf(". '%s/tuned/mpich.env'; LD_PRELOAD=%s srun --mpi=pmi2 -N4 -n8 --ntasks-per-node=2 %s check 64", dir, c.Shim(), prog))
	testutil.CheckAllRight(t, loaded)

	if testutil.AllCases() {
		verifyOnce(t, c.Env(), dir, "mpich")
	}
	waitForEmptyQueue(t, c)
}

// checkMeasured checks that most trials succeeded and that all have a cost.
func checkMeasured(t *testing.T, l liveRun) {
	t.Helper()
	if done := l.done(); done < len(l.trials)*9/10 {
		t.Errorf("%d of %d trials are done", done, len(l.trials))
		for _, fact := range l.facts() {
			if !strings.Contains(fact, ": done ") {
				t.Log(fact)
			}
		}
	}
	for _, r := range l.trials {
		if !(r.Trial.CostSeconds > 0) {
			t.Errorf("%v cost %g s", r.Trial.Candidate, r.Trial.CostSeconds)
		}
	}
}

// TestSlurm runs campaigns with fake benchmarks on one cluster. In some of them, jobs are rejected or
// cancelled, or tutti is killed.
func TestSlurm(t *testing.T) {
	c := testutil.StartSlurm(t, testutil.SlurmOptions{Nodes: 4})
	t.Setenv("SLURM_CONF", c.Conf)
	if stdout, stderr := mustTutti(t, codeDone, "init", "-", "--runner", "slurm"); !strings.Contains(stdout, "\n  nodes: [1, 2, 4]\n") || strings.Contains(stderr, "hydra") {
		t.Errorf("the campaign file of init has other nodes than the cluster, or another launcher than its jobs:\n%s%s", stderr, stdout)
	}
	undisturbed := ""
	for _, tc := range []struct {
		name string
		run  func(t *testing.T, c *testutil.SlurmCluster, dir string)
	}{
		{"rejected", slurmRejects},
		{"killed", slurmKilled},
		{"cancelled", slurmCancelled},
		{"interrupted", slurmInterrupted},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.name != "killed" {
				testutil.NeedAllCases(t)
			}
			dir := t.TempDir()
			campaigntest.Fake(t, dir, "slurm")
			tc.run(t, c, dir)
			waitForEmptyQueue(t, c)
			out := filepath.Join(dir, "out")
			if t.Failed() || tc.name == "cancelled" || parted(t, out) { // a cancelled campaign may lose failed trials
				return
			}
			facts := strings.Join(checkJournal(t, out).facts(), "\n")
			if undisturbed == "" {
				undisturbed = facts
			}
			if facts != undisturbed {
				t.Errorf("facts:\n%s\nwant those of the first campaign:\n%s", facts, undisturbed)
			}
			if tc.name == "killed" {
				slurmVerifyCancelled(t, c, dir)
			}
		})
	}
}

// slurmEnded checks the journal, the queue and the report of a campaign whose jobs all ran to their end.
func slurmEnded(t *testing.T, c *testutil.SlurmCluster, dir string) {
	t.Helper()
	out := filepath.Join(dir, "out")
	l := checkJournal(t, out)
	l.checkQueue(t, c, out)
	l.checkLedger(t, dir, false)
	l.checkReport(t, out)
}

// slurmRejects requests resources that Slurm never grants. It checks that `tutti tune` reports Slurm's
// reason at once and leaves no files. Then it starts the corrected campaign.
func slurmRejects(t *testing.T, c *testutil.SlurmCluster, dir string) {
	file := filepath.Join(dir, "small.yaml")
	for _, tc := range []struct{ set, want string }{
		{"slurm.partition=nosuch", "Partition nosuch not found"},
		{"slurm.directives=--gres=gpu:1", "Invalid generic resource (gres) specification"},
		{"grid.nodes=5,6", "needs 5 nodes, a job has at most 4"},
	} {
		for _, yes := range []string{"--yes=true", "--yes=false"} {
			began := time.Now()
			_, stderr := mustTutti(t, codeInput, "tune", "-c", file, "--set", tc.set, yes)
			if !strings.Contains(stderr, tc.want) || strings.Contains(stderr, "resume") {
				t.Errorf("%s: stderr %q, want %q", tc.set, stderr, tc.want)
			}
			if took := time.Since(began); took > testutil.HangTimeout {
				t.Errorf("%s: it took %v", tc.set, took)
			}
			if left, err := os.ReadDir(filepath.Join(dir, "out")); err == nil && len(left) > 0 {
				t.Fatalf("%s: left behind: %v", tc.set, left)
			}
		}
	}
	if queue := c.Run("squeue", "-h", "-tall", "-o%j"); queue != "" {
		t.Errorf("in the queue: %s", queue)
	}
	mustEnd(t, dir, []exitCode{codeDone}, "tune", "-c", "small.yaml")
	slurmEnded(t, c, dir)
}

// slurmKilled kills tutti after the first submission, after the end of a job, and before a submission. It
// checks that no job is submitted twice.
func slurmKilled(t *testing.T, c *testutil.SlurmCluster, dir string) {
	out := filepath.Join(dir, "out")
	fakePace(t, dir, "0.1")
	for i, holds := range []func() bool{
		func() bool { return len(openOf(t, out, coll.JobSubmitted)) > 0 },
		func() bool { return journalLines(t, out) > 10 },
		func() bool { return len(openOf(t, out, coll.JobIntended)) > 0 },
	} {
		cmd, output := process(t, dir, startOrResume(t, dir)...)
		if code := endWhen(t, cmd, syscall.SIGKILL, holds); code != -1 {
			t.Fatalf("kill %d: exit code %d\n%s", i+1, code, output)
		}
	}
	fakePace(t, dir, "")
	mustEnd(t, dir, []exitCode{codeDone}, "resume", "out")
	slurmEnded(t, c, dir)
}

// slurmCancelled interrupts a campaign, which leaves its jobs in the queue. Then it cancels the
// jobs and resumes the campaign.
func slurmCancelled(t *testing.T, c *testutil.SlurmCluster, dir string) {
	out := filepath.Join(dir, "out")
	fakePace(t, dir, "0.5")
	cmd, output := process(t, dir, "tune", "-c", "small.yaml")
	code := endWhen(t, cmd, os.Interrupt, func() bool { return len(openOf(t, out, coll.JobSubmitted)) == 2 })
	pattern := regexp.MustCompile(`tutti: stopped; everything measured is in the journal\. 2 jobs left in the queue; tutti cancel out cancels them\. Resume with:\n  tutti resume out\n$`)
	if code != codeCancelled || !pattern.MatchString(output.String()) {
		t.Errorf("exit code %d\n%s", code, output)
	}
	waiting := func() int { return len(strings.Fields(c.Run("squeue", "-h", "-o%i"))) }
	if n := waiting(); n != 2 {
		t.Errorf("%d jobs in the queue, want 2", n)
	}
	if stdout, _ := mustTutti(t, codeDone, "cancel", out); !strings.HasPrefix(stdout, "2 jobs cancelled; resume with: tutti resume ") {
		t.Errorf("stdout %q", stdout)
	}
	waitForEmptyQueue(t, c)
	fakePace(t, dir, "")
	mustEnd(t, dir, []exitCode{codeDone}, "resume", "out")
	l := checkJournal(t, out)
	l.checkQueue(t, c, out)
	l.checkLedger(t, dir, true)
	cancelled := 0
	for _, j := range l.jobs {
		if j.Outcome == coll.JobCancelled {
			cancelled++
		}
	}
	if cancelled == 0 {
		t.Errorf("no job is cancelled: %+v", l.jobs)
	}
}

// slurmInterrupted cancels each job after the third, until tutti gives up. Then it resumes the campaign, which must measure
// what is left. It takes a quarter of an hour.
func slurmInterrupted(t *testing.T, c *testutil.SlurmCluster, dir string) {
	out := filepath.Join(dir, "out")
	_, output := mustEndWith(t, cancelling(t, c, 3), dir, []exitCode{codeInterrupted}, "tune", "-c", "small.yaml")
	if !strings.HasSuffix(output, "The measurements are kept. Resume with: tutti resume out\n") {
		t.Errorf("output\n%s", output)
	}
	before := trialTexts(t, out)
	mustEnd(t, dir, []exitCode{codeDone}, "resume", "out")
	after := trialTexts(t, out)
	if !slices.Equal(after[:len(before)], before) || len(after) == len(before) {
		t.Errorf("%d trials before, %d after: want the earlier ones and more", len(before), len(after))
	}
	t.Logf("%d trials before exit code %d, %d after resume", len(before), codeInterrupted, len(after))
	l := checkJournal(t, out) // Slurm has forgotten the first jobs
	l.checkLedger(t, dir, false)
	l.checkReport(t, out)
}

// trialTexts returns a text for each trial of a campaign's problems, in the order of the journal.
func trialTexts(t *testing.T, out string) (texts []string) {
	t.Helper()
	for _, r := range recordsOf(t, out) {
		if r.Trial != nil && r.Problem.Collective != journal.Preflight {
			texts = append(texts, fmt.Sprintf("%v %s %s", r.Trial.Candidate, r.Trial.State, r.Trial.Job))
		}
	}
	return texts
}

// cancelling returns an environment in which each job is cancelled as soon as Slurm has accepted it, except the first ones.
func cancelling(t *testing.T, c *testutil.SlurmCluster, spared int) []string {
	t.Helper()
	bin := t.TempDir()
	sbatch := testutil.Must(exec.LookPath("sbatch"))(t)
	testutil.NoError(t, testutil.WriteExecutable(filepath.Join(bin, "sbatch"), fmt.Sprintf(`#!/bin/sh
echo . >>%[2]s/count
if [ "$(wc -l <%[2]s/count)" -le %[3]d ]; then exec %[1]s "$@"; fi
id=$(%[1]s -H "$@") && scancel "${id%%%%;*}" && echo "$id" # held, so that it never runs
`, sbatch, bin, spared)))
	return append(c.Env(), "PATH="+bin+":"+os.Getenv("PATH"))
}

// slurmVerifyCancelled verifies a campaign while each of its jobs is cancelled as soon as Slurm has accepted it. It checks
// that nothing is proved, and that the files still say so. In full test runs it waits until tutti gives up.
func slurmVerifyCancelled(t *testing.T, c *testutil.SlurmCluster, dir string) {
	out := filepath.Join(dir, "out")
	before := readFile(t, filepath.Join(out, "openmpi.env"))
	cmd, output := processWith(t, cancelling(t, c, 0), dir, "verify", "out", "--yes")
	cancelled := func() int {
		ended := map[string]bool{}
		for _, r := range recordsOf(t, out) {
			if r.Verify != nil && r.Verify.Job != nil && r.Verify.Job.Outcome == coll.JobCancelled {
				ended[r.Verify.Job.Name] = true
			}
		}
		return len(ended)
	}
	want, code := codeCancelled, codeDone
	if testutil.AllCases() {
		want, code = codeInterrupted, codeOfProcess(t, cmd.Wait())
	} else {
		code = endWhen(t, cmd, os.Interrupt, func() bool { return cancelled() >= 2 })
	}
	if code != want || cancelled() < 2 || strings.Contains(output.String(), "nothing is slower") {
		t.Errorf("exit code %d, want %d; %d jobs cancelled\n%s", code, want, cancelled(), output)
	}
	if after := readFile(t, filepath.Join(out, "openmpi.env")); !bytes.Equal(after, before) || !bytes.Contains(after, []byte("\n# Not verified: ")) {
		t.Errorf("openmpi.env:\n%s", after)
	}
	if f := reportOf(t, out); len(f.Verification) > 0 {
		t.Errorf("verified: %+v", f.Verification)
	}
}
