package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/coll"
	"tutti/coll/catalogue"
	"tutti/store"
)

// liveFile copies a file of testdata/live.
func liveFile(t testing.TB, name, to string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "live", name))
	if err == nil {
		err = os.WriteFile(to, content, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// fakeCampaign puts a campaign as small.yaml, a launcher and benchmarks that measure
// nothing into a folder: it takes a second or two, and what a candidate takes never
// changes.
func fakeCampaign(t testing.TB, dir, campaign string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, "osu"), 0o777); err != nil {
		t.Fatal(err)
	}
	liveFile(t, campaign, filepath.Join(dir, "small.yaml"))
	liveFile(t, "mpirun.sh", filepath.Join(dir, "mpirun"))
	for _, c := range []string{"allreduce", "alltoall"} {
		liveFile(t, "osu.sh", filepath.Join(dir, "osu", "osu_"+c))
	}
}

// fakePace makes each benchmark of a fake campaign take so many seconds, "" for none.
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

// fakeKey is what the fake benchmarks call a candidate.
func fakeKey(t *testing.T, c coll.Candidate) string {
	t.Helper()
	cat, err := catalogue.For(catalogue.OpenMPI, "4.1.4")
	if err != nil {
		t.Fatal(err)
	}
	id, segment := 0, "0"
	if !c.Algorithm.IsDefault() {
		e, err := cat.Lookup(c.Collective, c.Algorithm)
		if err != nil {
			t.Fatal(err)
		}
		id = e.ID
		if s, ok := c.Algorithm.Param("segsize"); ok {
			segment = s
		}
	}
	return fmt.Sprintf("%s/%d/%s/%d/%d", c.Collective, id, segment, c.Processes(), c.MsgBytes)
}

// fakeLedger returns the folders of the starts that measured each candidate, and of
// those that crashed over it.
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

// recordsOf reads the journal of a campaign's folder.
func recordsOf(t *testing.T, out string) []store.Record {
	t.Helper()
	contents, err := store.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	return contents.Records
}

// liveRun is what the journal of a campaign that measured says.
type liveRun struct {
	batches map[string][]coll.Candidate // by problem and round
	jobs    map[string]coll.Job         // by name, as they ended
	trials  []store.Record
}

func roundOf(r store.Record) string { return fmt.Sprintf("%v round %d", r.Problem, r.Round) }

// checkJournal checks that every job of a campaign that came to its end was begun,
// taken and ended once and knows what it cost, that every candidate of a batch has one
// trial, by a job that carried it, and that attempts are counted.
func checkJournal(t *testing.T, out string) liveRun {
	t.Helper()
	l := liveRun{map[string][]coll.Candidate{}, map[string]coll.Job{}, nil}
	last := map[coll.Candidate]coll.Trial{}
	settled := map[string]int{}
	for _, r := range recordsOf(t, out) {
		switch r.Kind {
		case store.KindBatch:
			l.batches[roundOf(r)] = r.Batch
		case store.KindJob:
			l.followed(t, r)
		case store.KindTrial:
			before := last[r.Trial.Candidate]
			if r.Trial.Attempt != before.Attempt+1 || before.State == coll.TrialDone {
				t.Errorf("%v: attempt %d (%s) after attempt %d (%s)", r.Trial.Candidate, r.Trial.Attempt, r.Trial.State, before.Attempt, before.State)
			}
			last[r.Trial.Candidate] = *r.Trial
			settled[roundOf(r)]++
			l.trials = append(l.trials, r)
			l.carried(t, r)
		}
	}
	for round, batch := range l.batches {
		if settled[round] != len(batch) {
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

// followed enters a step of a job.
func (l liveRun) followed(t *testing.T, r store.Record) {
	t.Helper()
	j := *r.Job
	before, known := l.jobs[j.Name]
	order := map[coll.JobState]int{coll.JobIntended: 1, coll.JobSubmitted: 2, coll.JobEnded: 3}
	if order[j.State] != order[before.State]+1 {
		t.Errorf("job %s goes from %q to %q", j.Name, before.State, j.State)
	}
	if known && !slices.Equal(before.Carries, j.Carries) {
		t.Errorf("job %s carries %v, then %v", j.Name, before.Carries, j.Carries)
	}
	for _, c := range j.Carries {
		if c < 0 || c >= len(l.batches[roundOf(r)]) {
			t.Errorf("job %s carries %d of a batch of %d", j.Name, c, len(l.batches[roundOf(r)]))
		}
	}
	l.jobs[j.Name] = j
}

// carried checks that the job of a trial carried its candidate and had not ended.
func (l liveRun) carried(t *testing.T, r store.Record) {
	t.Helper()
	j, known := l.jobs[r.Trial.Job]
	at := slices.Index(l.batches[roundOf(r)], r.Trial.Candidate)
	if !known || j.State != coll.JobSubmitted || !slices.Contains(j.Carries, at) {
		t.Errorf("%v, %d of %s, is of job %q, which carries %v and is %q", r.Trial.Candidate, at, roundOf(r), r.Trial.Job, j.Carries, j.State)
	}
}

// checkEnded checks what a job that ended says of itself.
func checkEnded(t *testing.T, j coll.Job) {
	t.Helper()
	if j.State != coll.JobEnded {
		t.Errorf("job %s is %s at the end", j.Name, j.State)
		return
	}
	if j.Outcome == coll.JobCancelled {
		return // perhaps before it began
	}
	e := j.Environment
	if e == nil || len(e.Nodes) == 0 || !strings.HasPrefix(e.Kernel, "Linux ") || e.Started.IsZero() {
		t.Errorf("job %s (%s) ran in %+v", j.Name, j.Outcome, e)
	}
	if !(j.Spent.Held() > 0) || j.Spent.Held() > j.LimitSeconds+60 {
		t.Errorf("job %s of at most %g s took %+v", j.Name, j.LimitSeconds, j.Spent)
	}
}

// facts are the trials of a campaign without what differs from run to run: times of
// jobs, and the order in which they ended.
func (l liveRun) facts() []string {
	var out []string
	for _, r := range l.trials {
		t := r.Trial
		out = append(out, fmt.Sprintf("%s: %v attempt %d: %s %s %.9g %d %s", roundOf(r), t.Candidate, t.Attempt, t.State, t.Phase, t.Seconds, t.Samples, t.Error))
	}
	slices.Sort(out)
	return out
}

// checkLedger checks that what the journal of a fake campaign says was measured by
// the job it says, and nothing else was: each candidate once, or crashed over once for
// each attempt that failed. With stopped, jobs were ended: what they measured may
// have been lost and measured again.
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
			t.Errorf("%v, attempt %d, is %s by job %s; starts: %v", r.Trial.Candidate, r.Trial.Attempt, r.Trial.State, r.Trial.Job, by[key])
		}
	}
	total := 0
	for _, by := range []map[string][]string{done, crashed} {
		for _, starts := range by {
			total += len(starts)
		}
	}
	if total != len(l.trials) && !(stopped && total > len(l.trials)) {
		t.Errorf("%d trials, but the ledger has %d", len(l.trials), total)
	}
}

// done counts the candidates that were measured.
func (l liveRun) done() int {
	n := 0
	for _, r := range l.trials {
		if r.Trial.State == coll.TrialDone {
			n++
		}
	}
	return n
}

// processesIn returns the command lines of the processes that work in a folder.
func processesIn(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, link := range all {
		cwd, err := os.Readlink(link)
		if err != nil || cwd != dir && !strings.HasPrefix(cwd, dir+"/") {
			continue // it may just have ended
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
		out = append(out, strings.ReplaceAll(string(line), "\x00", " "))
	}
	return out
}

// quiet waits until no process works in a folder: what was killed takes a moment.
func quiet(t *testing.T, dir string) {
	t.Helper()
	var left []string
	for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(10 * time.Millisecond) {
		if left = processesIn(t, dir); len(left) == 0 {
			return
		}
	}
	t.Errorf("still running: %q", left)
}
