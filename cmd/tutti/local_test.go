package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/csource"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
	"tutti/mpi/libraries"
	"tutti/report"
	"tutti/verify"
)

// fakePace sets how many seconds the fake benchmarks need for each message size. If `seconds` is empty, they do
// not wait.
func fakePace(t *testing.T, dir, seconds string) {
	t.Helper()
	path := filepath.Join(dir, "osu", "slow")
	err := os.Remove(path)
	if seconds != "" {
		err = os.WriteFile(path, []byte(seconds), 0o666)
	}
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

// fakeKey returns the name of a candidate in the file that the fake benchmarks write.
func fakeKey(t *testing.T, c coll.Candidate) string {
	t.Helper()
	_, cat, err := libraries.Release("openmpi", "4.1.4")
	testutil.NoError(t, err)
	id, segment := 0, "0"
	if !c.Algorithm.IsDefault() {
		e := testutil.Must(cat.Lookup(c.Collective, c.Algorithm))(t)
		id = e.ID
		if s, ok := c.Algorithm.Param("segsize"); ok {
			segment = s
		}
	}
	return fmt.Sprintf("%s/%d/%s/%d/%d", c.Collective, id, segment, c.Ranks(), c.MsgBytes)
}

// fakeLedger reads the file in which the fake benchmarks note what they measured. For each candidate it returns
// the folders of the launches that measured it, and of the launches that crashed.
func fakeLedger(t *testing.T, dir string) (done, crashed map[string][]string) {
	t.Helper()
	done, crashed = map[string][]string{}, map[string][]string{}
	for line := range strings.Lines(string(readFile(t, filepath.Join(dir, "osu", "ledger")))) {
		words := strings.Fields(line)
		if len(words) != 3 {
			t.Fatalf("ledger: %q", line)
		}
		to := done
		if words[1] == "crash" {
			to = crashed
		}
		to[words[2]] = append(to[words[2]], words[0])
	}
	return done, crashed
}

// recordsOf returns the records of the journal in a folder.
func recordsOf(t *testing.T, out string) []journal.Record {
	t.Helper()
	return campaigntest.Records(t, out)
}

// liveRun contains the records of a campaign's journal: batches, jobs and trials.
type liveRun struct {
	batches map[string][]coll.Candidate // by problem and round
	jobs    map[string]coll.Job         // last state of each job, by name
	trials  []journal.Record
}

func roundOf(r journal.Record) string { return fmt.Sprintf("%v round %d", r.Problem, r.Round) }

// checkJournal checks the journal of a finished campaign. Each job must be planned, submitted and ended once,
// and must have a cost. Each benchmark that a round chose must have one result, from a job that was planned to
// run it, unless a limit cut the round. The attempts at a benchmark must be numbered. No benchmark may be measured more
// than twice, or twice in one round.
func checkJournal(t *testing.T, out string) liveRun {
	t.Helper()
	l := liveRun{map[string][]coll.Candidate{}, map[string]coll.Job{}, nil}
	last := map[coll.Candidate]journal.Record{}
	done := map[coll.Candidate]int{}
	settled, cut := map[string]int{}, map[string]bool{}
	for _, r := range recordsOf(t, out) {
		switch r.Kind {
		case journal.KindBatch:
			l.batches[roundOf(r)] = r.Batch
		case journal.KindCut:
			cut[roundOf(r)] = true
		case journal.KindJob:
			l.addJob(t, r)
		case journal.KindTrial:
			settled[roundOf(r)]++
			l.checkTrialJob(t, r)
			if r.Problem.Collective == journal.Preflight {
				break // each process reads the settings again, except those of a queue
			}
			before, known := last[r.Trial.Candidate]
			if known && (r.Trial.Attempt != before.Trial.Attempt+1 || before.Round == r.Round || done[r.Trial.Candidate] > 1) || !known && r.Trial.Attempt != 1 {
				t.Errorf("%v: attempt %d (%s) in round %d after %+v", r.Trial.Candidate, r.Trial.Attempt, r.Trial.State, r.Round, before)
			}
			last[r.Trial.Candidate] = r
			if r.Trial.State == coll.TrialDone {
				done[r.Trial.Candidate]++
			}
			l.trials = append(l.trials, r)
		}
	}
	for round, batch := range l.batches {
		if complete := settled[round] == len(batch); complete == cut[round] && !strings.Contains(round, string(journal.Preflight)) {
			t.Errorf("%s: %d trials of %d candidates", round, settled[round], len(batch))
		}
	}
	for _, j := range l.jobs {
		checkEnded(t, j)
	}
	if len(l.jobs) == 0 || len(l.trials) == 0 {
		t.Errorf("%d jobs, %d trials", len(l.jobs), len(l.trials))
	}
	return l
}

// addJob adds the state of a job in the journal record r. It checks that the states of a job follow in the right order.
func (l liveRun) addJob(t *testing.T, r journal.Record) {
	t.Helper()
	j := *r.Job
	before, known := l.jobs[j.Name]
	order := map[coll.JobState]int{coll.JobIntended: 1, coll.JobSubmitted: 2, coll.JobEnded: 3}
	if order[j.State] != order[before.State]+1 {
		t.Errorf("job %s goes from %q to %q", j.Name, before.State, j.State)
	}
	if known && !slices.Equal(before.Requests, j.Requests) {
		t.Errorf("job %s carries %v, then %v", j.Name, before.Requests, j.Requests)
	}
	for _, c := range j.Requests {
		if c < 0 || c >= len(l.batches[roundOf(r)]) {
			t.Errorf("job %s carries %d of a batch of %d", j.Name, c, len(l.batches[roundOf(r)]))
		}
	}
	l.jobs[j.Name] = j
}

// checkTrialJob checks that the job of a trial contained its candidate and had not ended.
func (l liveRun) checkTrialJob(t *testing.T, r journal.Record) {
	t.Helper()
	j, known := l.jobs[r.Trial.Job]
	at := slices.Index(l.batches[roundOf(r)], r.Trial.Candidate)
	if !known || j.State != coll.JobSubmitted || !slices.Contains(j.Requests, at) {
		t.Errorf("%v, %d of %s, is of job %q, which carries %v and is %q", r.Trial.Candidate, at, roundOf(r), r.Trial.Job, j.Requests, j.State)
	}
}

// checkEnded checks the recorded environment and cost of a finished job.
func checkEnded(t *testing.T, j coll.Job) {
	t.Helper()
	if j.State != coll.JobEnded {
		t.Errorf("job %s is %s at the end", j.Name, j.State)
		return
	}
	if j.Outcome == coll.JobCancelled {
		return // the job may have been cancelled before it began
	}
	e := j.Environment
	if e == nil || len(e.Nodes) == 0 || !strings.HasPrefix(e.Kernel, "Linux ") || e.Started.IsZero() {
		t.Errorf("job %s (%s) ran in %+v", j.Name, j.Outcome, e)
	}
	if !(j.Spent.Allocated() > 0) || j.Spent.Allocated() > j.LimitSeconds+60 {
		t.Errorf("job %s of at most %g s took %+v", j.Name, j.LimitSeconds, j.Spent)
	}
}

// facts returns the trials of a campaign in sorted order, without the details that differ between
// runs.
func (l liveRun) facts() []string {
	var out []string
	for _, r := range l.trials {
		t := r.Trial
		out = append(out, fmt.Sprintf("%s: %v attempt %d: %s %s %.9g %d %s", roundOf(r), t.Candidate, t.Attempt, t.State, t.Phase, t.Seconds, t.Samples, t.Error))
	}
	slices.Sort(out)
	return out
}

// checkLedger compares the journal of a campaign with the ledger that its fake benchmarks wrote. Each trial
// must have one entry in the ledger, from the same job. Further entries are allowed only if jobs were
// stopped or output was lost, because candidates may then be measured twice.
func (l liveRun) checkLedger(t *testing.T, dir string, stopped bool) {
	t.Helper()
	done, crashed := fakeLedger(t, dir)
	for _, r := range l.trials {
		key, by := fakeKey(t, r.Trial.Candidate), done
		if r.Trial.State == coll.TrialFailed {
			by = crashed
		}
		own := 0
		for _, start := range by[key] {
			if strings.Contains(start, "/"+r.Trial.Job+"/") {
				own++
			}
		}
		if own != 1 {
			t.Errorf("%v, attempt %d, is %s by job %s (%s); starts: %v",
				r.Trial.Candidate, r.Trial.Attempt, r.Trial.State, r.Trial.Job, r.Trial.Error, by[key])
			logLaunches(t, filepath.Join(dir, "out", "jobs", r.Trial.Job))
		}
	}
	total := 0
	for _, by := range []map[string][]string{done, crashed} {
		for _, starts := range by {
			for _, start := range starts {
				if !strings.Contains(start, "/load-") { // CheckLoads has no trial
					total++
				}
			}
		}
	}
	again := stopped || parted(t, filepath.Join(dir, "out"))
	if total != len(l.trials) && !(again && total > len(l.trials)) {
		t.Errorf("%d trials, but the ledger has %d", len(l.trials), total)
	}
}

// parted reports whether srun lost the output of a node, as can happen on a busy machine. Candidates without
// output are then measured again in a later round.
func parted(t *testing.T, out string) bool {
	t.Helper()
	files := testutil.Must(filepath.Glob(filepath.Join(out, "jobs", "*", "*", "stderr")))(t)
	return slices.ContainsFunc(files, func(file string) bool {
		cause, _ := (benchrunner.Output{Stderr: readFile(t, file), Ended: true}).Interruption(true)
		return cause != ""
	})
}

// logLaunches adds the output of a job's launches to the test log.
func logLaunches(t *testing.T, job string) {
	t.Helper()
	for _, stream := range []string{"stdout", "stderr", "end"} {
		files := testutil.Must(filepath.Glob(filepath.Join(job, "*", stream)))(t)
		for _, file := range files {
			t.Logf("%s:\n%s", file, readFile(t, file))
		}
	}
}

// done returns the number of successful trials.
func (l liveRun) done() int {
	n := 0
	for _, r := range l.trials {
		if r.Trial.State == coll.TrialDone {
			n++
		}
	}
	return n
}

// measured returns the number of candidates with at least one successful trial.
func (l liveRun) measured() int {
	type of struct {
		problem   journal.Problem
		candidate coll.Candidate
	}
	known := map[of]bool{}
	for _, r := range l.trials {
		if r.Trial.State == coll.TrialDone {
			known[of{r.Problem, r.Trial.Candidate}] = true
		}
	}
	return len(known)
}

// processesIn returns the command lines of processes whose working directory is below a folder.
func processesIn(t *testing.T, dir string) []string {
	t.Helper()
	all := testutil.Must(filepath.Glob("/proc/[0-9]*/cwd"))(t)
	var out []string
	for _, link := range all {
		cwd, err := os.Readlink(link)
		if err != nil || cwd != dir && !strings.HasPrefix(cwd, dir+"/") {
			continue // the process may have ended meanwhile
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
		out = append(out, strings.ReplaceAll(string(line), "\x00", " "))
	}
	return out
}

// waitUntilIdle waits until no process runs in a folder. Killed processes need a moment to end.
func waitUntilIdle(t *testing.T, dir string) {
	t.Helper()
	var left []string
	for began := time.Now(); time.Since(began) < testutil.HangTimeout; time.Sleep(10 * time.Millisecond) {
		if left = processesIn(t, dir); len(left) == 0 {
			return
		}
	}
	t.Errorf("still running: %q", left)
}

// siteCampaign writes the benchmark program and the campaign file c.yaml into a folder. `replace`
// contains pairs of an old and a new text, by which it changes the campaign file.
func siteCampaign(t *testing.T, tc testutil.Toolchain, dir, campaign string, replace ...string) {
	t.Helper()
	program := testutil.BuildProgram(t, tc, csource.Bench)
	launcher := testutil.Must(exec.LookPath(tc.Launcher))(t)
	content, err := os.ReadFile(filepath.Join("testdata", "live", campaign))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "c.yaml"), []byte(strings.NewReplacer(replace...).Replace(string(content))), 0o666)
	}
	testutil.NoError(t, errors.Join(err, os.Symlink(launcher, filepath.Join(dir, "mpirun")), os.Rename(program, filepath.Join(dir, "native"))))
}

// mustEnd runs tutti as a child process, which must end with one of the given exit codes.
func mustEnd(t *testing.T, dir string, codes []exitCode, args ...string) (exitCode, string) {
	t.Helper()
	return mustEndWith(t, os.Environ(), dir, codes, args...)
}

// mustEndWith runs tutti like mustEnd, with additional environment variables.
func mustEndWith(t *testing.T, environ []string, dir string, codes []exitCode, args ...string) (exitCode, string) {
	t.Helper()
	cmd, output := processWith(t, environ, dir, args...)
	code := codeOfProcess(t, cmd.Wait())
	if !slices.Contains(codes, code) {
		t.Fatalf("tutti %q: exit code %d, want one of %v\n%s", args, code, codes, output)
	}
	return code, output.String()
}

// fewCases returns flags that end a campaign after a round that meets the criteria. In full test runs (see
// testutil.AllCases) it returns none.
func fewCases() []string {
	if testutil.AllCases() {
		return nil
	}
	return []string{"--set", "stop.patience=1", "--set", "stop.confirm=0"}
}

// finished lists the exit codes of campaigns that were not interrupted.
var finished = []exitCode{codeDone, codeNotConverged}

// checkRan checks the recorded environment of all jobs with measurements. The jobs must have used the
// library, on nodes whose names match the pattern.
func (l liveRun) checkRan(t *testing.T, library string, nodes *regexp.Regexp) {
	t.Helper()
	checksums := map[string]bool{}
	for _, j := range l.jobs {
		e := j.Environment
		if e == nil || j.Spent.Measure == 0 {
			continue
		}
		checksums[e.Checksum] = true
		if !strings.HasPrefix(e.Library, library) || len(e.Checksum) != 64 {
			t.Errorf("job %s ran with %q, checksum %q, want %s", j.Name, e.Library, e.Checksum, library)
		}
		if len(e.Nodes) != j.Nodes || slices.ContainsFunc(e.Nodes, func(n string) bool { return !nodes.MatchString(n) }) {
			t.Errorf("job %s of %d nodes ran on %q", j.Name, j.Nodes, e.Nodes)
		}
	}
	if len(checksums) != 1 {
		t.Errorf("%d checksums, want one: %v", len(checksums), checksums)
	}
}

// checkReport compares the times of jobs in the report with those in the journal.
func (l liveRun) checkReport(t *testing.T, out string) report.Facts {
	t.Helper()
	f := reportOf(t, out)
	nodeSeconds := 0.0
	for _, j := range l.jobs {
		nodeSeconds += j.Spent.Allocated() * float64(j.Nodes)
	}
	jobs, reported := 0, 0.0
	for _, m := range f.MachineTime {
		jobs += m.Jobs
		reported += m.Launch + m.Warmup + m.Measure + m.Idle
	}
	if jobs != len(l.jobs) || math.Abs(reported-nodeSeconds) > 1e-6*nodeSeconds {
		t.Errorf("the report has %d jobs and %g node-seconds, the journal %d and %g", jobs, reported, len(l.jobs), nodeSeconds)
	}
	// The costs of the trials and of reading the settings of the machine add up to the costs of the jobs.
	_, paid := campaigntest.State(recordsOf(t, out)).PreflightSeconds()
	for _, p := range f.Problems {
		paid += p.NodeSeconds
	}
	if math.Abs(paid-nodeSeconds) > 1e-6*nodeSeconds {
		t.Errorf("trials paid %g node-seconds, jobs took %g", paid, nodeSeconds)
	}
	return f
}

// TestLocalOpenMPI tunes Open MPI, with an interruption. Then it loads the rules file into Open MPI and
// verifies the selection.
func TestLocalOpenMPI(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	siteCampaign(t, testutil.OpenMPI, dir, "openmpi.yaml")
	out := filepath.Join(dir, "out")

	cmd, output := process(t, dir, append([]string{"tune", "-c", "c.yaml"}, fewCases()...)...)
	code := endWhen(t, cmd, os.Interrupt, func() bool { return len(processesIn(t, filepath.Join(out, "jobs"))) > 2 })
	if code != codeCancelled || !strings.HasSuffix(output.String(), "Resume with:\n  tutti resume out\n") {
		t.Fatalf("interrupted: exit code %d\n%s", code, output)
	}
	waitUntilIdle(t, dir)
	before := len(recordsOf(t, out))
	mustEnd(t, dir, finished, "resume", "out")
	waitUntilIdle(t, dir)
	l := checkJournal(t, out)
	if n := len(recordsOf(t, out)); n <= before {
		t.Errorf("%d records before and %d after", before, n)
	}
	host := testutil.Must(os.Hostname())(t)
	l.checkRan(t, "Open MPI v4.1.4", regexp.MustCompile("^"+regexp.QuoteMeta(host)+"$"))
	mustTutti(t, codeDone, "report", out)
	l.checkReport(t, out)

	mustTutti(t, codeDone, "export", out, "--out", filepath.Join(dir, "tuned"))
	prog := testutil.BuildProgram(t, testutil.OpenMPI, testutil.CollectivesProgram)
	loaded := testutil.RunProgram(t, libraryEnv(t, out), "bash", "-euc", `. "$1/openmpi.env"; exec mpirun.openmpi -n 3 "$2" check 64`, "bash", filepath.Join(dir, "tuned"), prog)
	testutil.CheckAllRight(t, loaded)
	if strings.Contains(loaded, "openmpi.rules") {
		t.Errorf("Open MPI warns of its rules:\n%s", loaded)
	}
	if testutil.AllCases() {
		verifyOnce(t, os.Environ(), dir, "openmpi")
	}
	waitUntilIdle(t, dir)
}

// libraryEnv returns the environment variables that the campaign sets for its library.
func libraryEnv(t *testing.T, out string) []string {
	t.Helper()
	contents := testutil.Must(journal.Read(out))(t)
	c := testutil.Must(assembly.Restore(contents, out))(t)
	return c.Config.Libraries[0].Env
}

// verifyOnce verifies the selection of the campaign in dir/out with two blocks, which may be too few to prove the
// selection. If the files change a point, the library must report that it obeys them. On a busy machine no algorithm
// may be measurably faster than the default; the files then change nothing.
func verifyOnce(t *testing.T, environ []string, dir, library string) {
	t.Helper()
	code, output := mustEndWith(t, environ, dir, []exitCode{codeDone, codeNotProved}, "verify", "out",
		"--set", "points=3", "--set", "between=1", "--set", "min_blocks=2", "--set", "max_blocks=2")
	reasons := []string{"not proved: ", "slower: ", "the measurements cannot be trusted"}
	if code == codeNotProved && !slices.ContainsFunc(reasons, func(s string) bool { return strings.Contains(output, s) }) {
		t.Errorf("not proved without a reason:\n%s", output)
	}
	f := reportOf(t, filepath.Join(dir, "out"))
	if len(f.Verification) != 1 || f.Verification[0].Library != library {
		t.Fatalf("verified: %+v\n%s", f.Verification, output)
	}
	obeyed := 0
	for _, o := range f.Verification[0].ForcingChecks {
		switch o.State {
		case verify.Ignored:
			t.Errorf("%s %dx%d: %s", o.Collective, o.Nodes, o.PPN, o.Note)
		case verify.Obeyed:
			obeyed++
		}
	}
	changed := slices.ContainsFunc(f.Verification[0].Collectives, func(c verify.CollectiveResult) bool { return c.ChangedPoints > 0 })
	if changed && obeyed == 0 {
		t.Errorf("no file is proved to be obeyed: %+v", f.Verification[0].ForcingChecks)
	}
}

// TestLocalOSU checks that a campaign can be interrupted and resumed. Its fake benchmarks need a launch for each
// algorithm, like the benchmarks of OSU. One algorithm always crashes at one size, and a second algorithm
// crashes once.
func TestLocalOSU(t *testing.T) {
	t.Parallel()
	testutil.SkipShort(t)
	dir := t.TempDir()
	campaigntest.Fake(t, dir, "local")
	out := filepath.Join(dir, "out")
	fakePace(t, dir, "0.2")
	cmd, output := process(t, dir, "tune", "-c", "small.yaml")
	code := endWhen(t, cmd, os.Interrupt, func() bool { return len(processesIn(t, filepath.Join(out, "jobs"))) > 2 })
	if code != codeCancelled || strings.Contains(output.String(), "queue") {
		t.Errorf("interrupted: exit code %d\n%s", code, output)
	}
	waitUntilIdle(t, dir)
	fakePace(t, dir, "")
	mustEnd(t, dir, []exitCode{codeDone}, "resume", "out")
	waitUntilIdle(t, dir)
	l := checkJournal(t, out)
	l.checkLedger(t, dir, true)
	l.checkReport(t, out)
	failed := map[string]int{}
	for _, r := range l.trials {
		if r.Trial.State == coll.TrialFailed {
			failed[fmt.Sprintf("%s %d", r.Trial.Algorithm.Name, r.Trial.MsgBytes)]++
			if r.Trial.Phase != "run" || r.Trial.Error != "exit code 3: the algorithm fell over" {
				t.Errorf("%v failed: %s: %s", r.Trial.Candidate, r.Trial.Phase, r.Trial.Error)
			}
		}
	}
	if failed["nonoverlapping 128"] != 2 || failed["recursive_doubling 512"] < 1 || len(failed) != 2 {
		t.Errorf("failed: %v", failed)
	}
}
