package slurm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

// long is the test flag -long. It enables the cases that take minutes.

// conf is a line of slurm.conf that makes clients give up early.
const conf = "MessageTimeout=2"

func startCluster(t *testing.T, nodes int, lines string, o Options) (*testutil.SlurmCluster, *Scheduler) {
	t.Helper()
	c := testutil.StartSlurm(t, testutil.SlurmOptions{Nodes: nodes, Conf: lines})
	t.Setenv("SLURM_CONF", c.Conf)
	s := testutil.Must(New(o))(t)
	return c, s
}

func submit(t *testing.T, s *Scheduler, sub benchrunner.Submission) string {
	t.Helper()
	id, err := s.Submit(t.Context(), sub)
	if err != nil {
		t.Fatalf("Submit(%s): %v", sub.Name, err)
	}
	return id
}

// await requests the status of a job repeatedly until the function `done` returns true.
func await(t *testing.T, s *Scheduler, id string, sub benchrunner.Submission, done func(benchrunner.Status) bool) benchrunner.Status {
	t.Helper()
	var last benchrunner.Status
	for begin := time.Now(); time.Since(begin) < testutil.HangTimeout; time.Sleep(100 * time.Millisecond) {
		all, err := s.Status(t.Context(), map[string]benchrunner.Submission{id: sub})
		if err != nil {
			t.Fatalf("Status: %v", err)
		}
		var known bool
		if last, known = all[id]; !known {
			t.Fatalf("job %s (%s) is unknown", id, sub.Name)
		}
		if done(last) {
			return last
		}
	}
	t.Fatalf("job %s (%s) is still %+v after %v", id, sub.Name, last, testutil.HangTimeout)
	return last
}

func over(st benchrunner.Status) bool    { return st.Phase == benchrunner.JobOver }
func running(st benchrunner.Status) bool { return st.Phase == benchrunner.JobRunning }

// jobsNamed returns the IDs of the jobs with the given name that Slurm knows.
func jobsNamed(c *testutil.SlurmCluster, name string) []string {
	return strings.Fields(c.Run("squeue", "-h", "-tall", "-n", name, "-o%i"))
}

func wantOutcome(t *testing.T, st benchrunner.Status, outcome coll.JobOutcome, reason string) {
	t.Helper()
	if st.Outcome != outcome || !strings.Contains(st.Reason, reason) {
		t.Errorf("outcome %q, reason %q; want %q, %q", st.Outcome, st.Reason, outcome, reason)
	}
}

// TestSlurmJob checks that a job with unusual variables, folder name and directives runs, ends and is found.
func TestSlurmJob(t *testing.T) {
	c, s := startCluster(t, 2, conf, Options{Partition: "main", Directives: []string{"--comment=a b", "--oversubscribe"}})
	for name, value := range map[string]string{
		"SBATCH_PARTITION": "nosuch", "SBATCH_TIMELIMIT": "1000", "SLURM_TIME_FORMAT": "relative", "SQUEUE_STATES": "PD",
		"SQUEUE_FORMAT": "%i", "SLURM_NTASKS": "7", "SLURM_JOB_ID": "77", "SBATCH_ARRAY_INX": "1-3", "SCANCEL_INTERACTIVE": "1",
		"TZ": "Pacific/Kiritimati", "LC_ALL": "de_DE.UTF-8", "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
	} {
		t.Setenv(name, value)
	}
	sub := job(t, "a.bcast_2-1", "env | sort; pwd; srun --ntasks=4 --ntasks-per-node=2 --nodes=2 hostname")
	sub.Nodes, sub.PPN = 2, 2
	sub.Dir = filepath.Join(sub.Dir, "50%j a|b 'd' $HOME;x")
	testutil.NoError(t, os.Mkdir(sub.Dir, 0o755))
	before := time.Now().Add(-time.Second)
	id := submit(t, s, sub)
	st := await(t, s, id, sub, over)
	wantOutcome(t, st, coll.JobCompleted, "COMPLETED")
	for what, at := range map[string]time.Time{"submitted": st.Submitted, "started": st.Started, "ended": st.Ended} {
		if at.Before(before.Truncate(time.Second)) || at.After(time.Now().Add(time.Second)) {
			t.Errorf("%s at %v, now is %v", what, at, time.Now())
		}
	}
	wantOutput(t, sub, id)
	if got := c.Run("squeue", "-h", "-tall", "-o%k"); got != "a b" {
		t.Errorf("comment %q", got)
	}
	found, ok, err := s.Find(t.Context(), sub)
	if err != nil || !ok || found != id {
		t.Errorf("Find = %q, %v, %v; want %q", found, ok, err, id)
	}
	elsewhere := sub
	elsewhere.Dir = t.TempDir()
	if found, ok, err := s.Find(t.Context(), elsewhere); err != nil || ok {
		t.Errorf("Find of a job of that name in another folder = %q, %v, %v", found, ok, err)
	}
}

// wantOutput checks the output of the job of TestSlurmJob: its variables and nodes.
func wantOutput(t *testing.T, sub benchrunner.Submission, id string) {
	t.Helper()
	text := testutil.Must(os.ReadFile(filepath.Join(sub.Dir, OutputFile)))(t)
	lines := strings.Split(string(text), "\n")
	for _, want := range []string{sub.Dir, "SLURM_JOB_PARTITION=main", "SLURM_JOB_NUM_NODES=2", "SLURM_JOB_ID=" + id, "LC_ALL=C"} {
		if !slices.Contains(lines, want) {
			t.Errorf("output lacks %q:\n%s", want, text)
		}
	}
	for _, unwanted := range []string{"OMPI_MCA", "TZ=", "SLURM_EXPORT_ENV=NONE", "SQUEUE_", "SBATCH_"} {
		if strings.Contains(string(text), "\n"+unwanted) {
			t.Errorf("the job sees %s:\n%s", unwanted, text)
		}
	}
	ranks := map[string]int{}
	for _, line := range lines {
		ranks[line]++
	}
	if ranks["n1"] != 2 || ranks["n2"] != 2 {
		t.Errorf("%d and %d ranks, want two on each node:\n%s", ranks["n1"], ranks["n2"], text)
	}
}

// failures contains what tests of failed and rejected jobs share: a cluster of three nodes and its
// scheduler.
type failures struct {
	*testutil.SlurmCluster
	s *Scheduler
}

func TestSlurmFailures(t *testing.T) {
	c, s := startCluster(t, 3, conf, Options{})
	on := failures{c, s}
	for _, tc := range []struct {
		name string
		test func(*testing.T)
	}{
		{"exit code", on.exitCode},
		{"step failed in a job that completed", on.stepFailed},
		{"cancelled by an operator", on.cancelledByOperator},
		{"cancelled by tutti", on.cancelledByTutti},
		{"node fails in a step", on.nodeFails},
		{"held", on.heldJob},
		{"node drained, and folder gone when it starts", on.folderGone},
		{"never starts", on.neverStarts},
		{"rejected", on.rejectedAtOnce},
		{"limits that Slurm enforces at once", on.limitEnforced},
		{"partition down", on.partitionDown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			switch tc.name {
			case "exit code", "cancelled by tutti", "held", "rejected":
			default:
				testutil.NeedAllCases(t)
			}
			tc.test(t)
		})
	}
}

func (c failures) exitCode(t *testing.T) {
	sub := job(t, "exit", "exit 3")
	wantOutcome(t, await(t, c.s, submit(t, c.s, sub), sub, over), coll.JobFailed, "FAILED: NonZeroExitCode")
}

func (c failures) stepFailed(t *testing.T) {
	sub := job(t, "step", "srun sh -c 'exit 2'\nexit 0")
	id := submit(t, c.s, sub)
	wantOutcome(t, await(t, c.s, id, sub, over), coll.JobFailed, "COMPLETED, but a step ended with 2:0")
	if state := c.Run("squeue", "-h", "-tall", "-j", id, "-o%T"); state != "COMPLETED" {
		t.Errorf("Slurm says %s", state)
	}
}

func (c failures) cancelledByOperator(t *testing.T) {
	sub := job(t, "cancelled", "sleep 100")
	id := submit(t, c.s, sub)
	await(t, c.s, id, sub, running)
	c.Run("scancel", id)
	wantOutcome(t, await(t, c.s, id, sub, over), coll.JobCancelled, "CANCELLED")
}

func (c failures) cancelledByTutti(t *testing.T) {
	sub := job(t, "own", "sleep 100")
	id := submit(t, c.s, sub)
	await(t, c.s, id, sub, running)
	other := sub
	other.Name = "other"
	for _, sub := range []benchrunner.Submission{other, sub, sub} {
		if err := c.s.Cancel(t.Context(), id, sub); err != nil {
			t.Errorf("Cancel(%s): %v", sub.Name, err)
		}
		if st := c.Run("squeue", "-h", "-tall", "-j", id, "-o%T"); sub.Name == "other" && st != "RUNNING" {
			t.Errorf("a job of another name is %s", st)
		}
	}
	wantOutcome(t, await(t, c.s, id, sub, over), coll.JobCancelled, "CANCELLED")
	if err := c.s.Cancel(t.Context(), "9999", sub); err != nil {
		t.Errorf("Cancel of an unknown id: %v", err)
	}
	if err := c.s.Cancel(t.Context(), id, sub); err != nil {
		t.Errorf("Cancel of a job that is over: %v", err)
	}
}

func (c failures) nodeFails(t *testing.T) {
	sub := job(t, "nodefail", "srun sleep 100")
	sub.Nodes = 2
	id := submit(t, c.s, sub)
	await(t, c.s, id, sub, running)
	nodes := strings.Fields(c.Shell("scontrol show hostnames $(squeue -h -j " + id + " -o%N)"))
	c.SetNodeDown(nodes[1])
	wantOutcome(t, await(t, c.s, id, sub, over), coll.JobNodeFail, "NODE_FAIL")
}

func (c failures) heldJob(t *testing.T) {
	sub := job(t, "held", "true")
	sub.Nodes = 3
	c.Drain("n1")
	id := submit(t, c.s, sub)
	c.Run("scontrol", "hold", id)
	st := await(t, c.s, id, sub, func(st benchrunner.Status) bool { return strings.HasPrefix(st.Reason, "JobHeld") })
	if st.Phase != benchrunner.JobWaiting || st.NeverStarts || !st.Started.IsZero() {
		t.Errorf("a held job is %+v", st)
	}
	c.Resume("n1")
	c.Run("scontrol", "release", id)
	wantOutcome(t, await(t, c.s, id, sub, over), coll.JobCompleted, "COMPLETED")
}

func (c failures) folderGone(t *testing.T) {
	sub := job(t, "drained", "true")
	sub.Nodes = 3
	c.Drain("n1")
	id := submit(t, c.s, sub)
	st := await(t, c.s, id, sub, func(st benchrunner.Status) bool { return strings.Contains(st.Reason, "DRAINED") })
	if st.Phase != benchrunner.JobWaiting || st.NeverStarts {
		t.Errorf("a job that waits for a drained node is %+v", st)
	}
	testutil.NoError(t, os.RemoveAll(sub.Dir))
	c.Resume("n1")
	wantOutcome(t, await(t, c.s, id, sub, over), coll.JobFailed, "FAILED: JobLaunchFailure")
}

func (c failures) neverStarts(t *testing.T) {
	for _, tc := range []struct {
		reasons string // one of these reasons is expected
		change  func(*benchrunner.Submission, *Options)
	}{
		{"PartitionConfig PartitionNodeLimit", func(s *benchrunner.Submission, _ *Options) { s.Nodes = 4 }}, // Slurm reports the second reason once it has tried to schedule the job
		{"PartitionNodeLimit", func(s *benchrunner.Submission, o *Options) { s.Nodes, o.Partition = 2, "small" }},
		{"PartitionTimeLimit", func(s *benchrunner.Submission, _ *Options) { s.Limit = 61 * time.Minute }},
	} {
		sub, o := job(t, "neverstarts", "true"), Options{}
		tc.change(&sub, &o)
		s := testutil.Must(New(o))(t)
		id := submit(t, s, sub)
		st := await(t, s, id, sub, func(st benchrunner.Status) bool {
			return slices.Contains(strings.Fields(tc.reasons), st.Reason)
		})
		if !st.NeverStarts {
			t.Errorf("%s: %+v", tc.reasons, st)
		}
		if err := s.Cancel(t.Context(), id, sub); err != nil {
			t.Error(err)
		}
		await(t, s, id, sub, over)
	}
}

func (c failures) rejectedAtOnce(t *testing.T) {
	for words, o := range map[string]Options{
		"invalid partition specified: nosuch":       {Partition: "nosuch"},
		"Invalid feature specification":             {Constraint: "nosuch"},
		"Requested reservation is invalid":          {Reservation: "nosuch"},
		"Memory specification can not be satisfied": {Directives: []string{"--mem=100T"}},
		"unrecognized option '--nosuch=1'":          {Directives: []string{"--nosuch=1"}},
		"Invalid node name specified":               {Directives: []string{"--nodelist=nosuch"}},
	} {
		s := testutil.Must(New(o))(t)
		begin := time.Now()
		_, err := s.Submit(t.Context(), job(t, "rejected", "true"))
		if !errors.Is(err, benchrunner.ErrRejected) || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: %v, want %q", o, err, words)
		}
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("%s: rejected after %v", words, took)
		}
	}
}

func (c failures) limitEnforced(t *testing.T) {
	c.Shell("sed -i '$ a EnforcePartLimits=ALL' " + c.Conf + " && scontrol reconfigure")
	sub := job(t, "enforced", "true")
	sub.Limit = 61 * time.Minute
	_, err := c.s.Submit(t.Context(), sub)
	if !errors.Is(err, benchrunner.ErrRejected) || !strings.Contains(err.Error(), "Requested time limit is invalid") {
		t.Errorf("over the limit of the partition: %v", err)
	}
}

func (c failures) partitionDown(t *testing.T) {
	c.Run("scontrol", "update", "partitionname=main", "state=inactive")
	_, err := c.s.Submit(t.Context(), job(t, "inactive", "true"))
	if !errors.Is(err, benchrunner.ErrUnavailable) || !strings.Contains(err.Error(), "Required partition not available") {
		t.Errorf("an inactive partition: %v", err)
	}
	c.Run("scontrol", "update", "partitionname=main", "state=up")
}

// TestSlurmFrozen checks that a job is found if sbatch times out but a frozen controller accepts the job
// later.
func TestSlurmFrozen(t *testing.T) {
	testutil.NeedAllCases(t)
	c, s := startCluster(t, 1, conf, Options{})
	sub := job(t, "frozen", "sleep 2")
	c.Freeze()
	time.AfterFunc(5*time.Second, c.Thaw)
	if id, err := s.Submit(t.Context(), sub); !errors.Is(err, benchrunner.ErrUnavailable) || !strings.Contains(err.Error(), "Socket timed out") {
		t.Fatalf("Submit to a frozen controller: %q, %v", id, err)
	}
	id, found := "", false
	for begin := time.Now(); !found && time.Since(begin) < testutil.HangTimeout; time.Sleep(100 * time.Millisecond) {
		var err error
		if id, found, err = s.Find(t.Context(), sub); err != nil && !errors.Is(err, benchrunner.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	wantOutcome(t, await(t, s, id, sub, over), coll.JobCompleted, "COMPLETED")
}

// TestSlurmControllerDown checks that requests to a controller that is down return ErrUnavailable, and that
// jobs survive it.
func TestSlurmControllerDown(t *testing.T) {
	c, s := startCluster(t, 1, conf+"\nTCPTimeout=1", Options{})
	sub := job(t, "survivor", "sleep 6")
	id := submit(t, s, sub)
	await(t, s, id, sub, running)
	c.StopController()
	_, statusErr := s.Status(t.Context(), map[string]benchrunner.Submission{id: sub})
	_, submitErr := s.Submit(t.Context(), job(t, "second", "true"))
	for _, err := range []error{statusErr, submitErr} {
		if !errors.Is(err, benchrunner.ErrUnavailable) || !strings.Contains(err.Error(), "Unable to contact slurm controller") {
			t.Errorf("error %v without a controller", err)
		}
	}
	c.StartController()
	wantOutcome(t, await(t, s, id, sub, over), coll.JobCompleted, "COMPLETED")
}

// TestSlurmForgets checks a cluster that forgets ended jobs and gives their IDs to other jobs. Status must not
// report a forgotten job, and Cancel must not cancel the new job with its ID.
func TestSlurmForgets(t *testing.T) {
	testutil.NeedAllCases(t)
	c, s := startCluster(t, 1, conf+"\nMinJobAge=2", Options{})
	sub := job(t, "old", "true")
	id := submit(t, s, sub)
	await(t, s, id, sub, over)
	jobs := map[string]benchrunner.Submission{id: sub}
	for begin := time.Now(); len(jobsNamed(c, sub.Name)) > 0; time.Sleep(200 * time.Millisecond) {
		if time.Since(begin) > testutil.HangTimeout {
			t.Fatal("the job is not purged")
		}
	}
	if got, err := s.Status(t.Context(), jobs); err != nil || len(got) > 0 {
		t.Errorf("Status of a purged job = %v, %v", got, err)
	}
	if !s.noAccounts.Load() {
		t.Error("a cluster without accounts was not found out")
	}

	c.StopController()
	c.StartEmptyController()
	other := job(t, "new", "sleep 100")
	newID := submit(t, s, other)
	if newID != id {
		t.Fatalf("id %s, want %s again", newID, id)
	}
	await(t, s, newID, other, running)
	if got, err := s.Status(t.Context(), jobs); err != nil || len(got) > 0 {
		t.Errorf("Status of an old job whose id is another's = %v, %v", got, err)
	}
	if err := s.Cancel(t.Context(), id, sub); err != nil {
		t.Error(err)
	}
	if state := c.Run("squeue", "-h", "-tall", "-j", newID, "-o%T"); state != "RUNNING" {
		t.Errorf("the other job is %s", state)
	}
	if _, found, err := s.Find(t.Context(), sub); err != nil || found {
		t.Errorf("Find of an old job = %v, %v", found, err)
	}
}

// TestSlurmWrappedSbatch checks that the job ID is found if a site has replaced sbatch by a wrapper. The
// wrapper prints other lines or is killed after the submission.
func TestSlurmWrappedSbatch(t *testing.T) {
	c, _ := startCluster(t, 1, conf, Options{})
	bin := t.TempDir()
	for _, tool := range []string{"squeue", "sacct", "scontrol", "scancel", "sinfo"} {
		testutil.NoError(t, os.Symlink("/usr/bin/"+tool, filepath.Join(bin, tool)))
	}
	s := testutil.Must(New(Options{Bin: bin}))(t)
	for name, script := range map[string]string{
		"talks":        "echo 'Welcome. 3 messages'; echo 'sbatch: your quota is nearly used up' >&2; /usr/bin/sbatch \"$@\" || exit; echo 'Have a nice day'",
		"with-cluster": "id=$(/usr/bin/sbatch \"$@\") && echo \"$id;virtual\"",
		"killed":       "/usr/bin/sbatch \"$@\" >/dev/null; kill -9 $$",
		"silent":       "/usr/bin/sbatch \"$@\" >/dev/null",
		"wrong-code":   "/usr/bin/sbatch \"$@\"; exit 1",
	} {
		t.Run(name, func(t *testing.T) {
			testutil.NoError(t, os.WriteFile(filepath.Join(bin, "sbatch"), []byte("#!/bin/bash\n"+script+"\n"), 0o755))
			sub := job(t, name, "true")
			id, err := s.Submit(t.Context(), sub)
			if errors.Is(err, benchrunner.ErrUnavailable) { // the job may have been accepted
				id, _, err = s.Find(t.Context(), sub)
			}
			if got := jobsNamed(c, name); err != nil || len(got) != 1 || got[0] != id {
				t.Errorf("Submit, Find = %q, %v; Slurm knows %q", id, err, got)
			}
		})
	}
}

func TestSlurmCapacity(t *testing.T) {
	c, s := startCluster(t, 3, conf+"\nPartitionName=tight Nodes=n[1-3] MaxNodes=2 MaxCPUsPerNode=3 MaxTime=UNLIMITED Hidden=YES", Options{MaxJobs: 5})
	want := func(s *Scheduler, want benchrunner.Capacity) {
		t.Helper()
		if got, err := s.Capacity(t.Context()); err != nil || got != want {
			t.Errorf("Capacity = %+v, %v; want %+v", got, err, want)
		}
	}
	want(s, benchrunner.Capacity{Nodes: 3, PPN: 4, Bytes: 2000 << 20, Limit: time.Hour, Jobs: 5, SeparateNodes: true})
	tight := testutil.Must(New(Options{Partition: "tight"}))(t)
	want(tight, benchrunner.Capacity{Nodes: 2, PPN: 3, Bytes: 2000 << 20, Jobs: 1, SeparateNodes: true})
	c.Drain("n1")
	want(s, benchrunner.Capacity{Nodes: 2, PPN: 4, Bytes: 2000 << 20, Limit: time.Hour, Jobs: 5, SeparateNodes: true})
	c.Drain("n2")
	c.Drain("n3")
	if _, err := s.Capacity(t.Context()); !errors.Is(err, benchrunner.ErrUnavailable) {
		t.Errorf("Capacity without nodes: %v", err)
	}
	none := testutil.Must(New(Options{Partition: "nosuch"}))(t)
	if _, err := none.Capacity(t.Context()); err == nil || !strings.Contains(err.Error(), "Partition nosuch not found") {
		t.Errorf("Capacity of an unknown partition: %v", err)
	}
}

// TestSlurmInterrupted checks that a job is not lost if the context ends while sbatch runs.
func TestSlurmInterrupted(t *testing.T) {
	c, _ := startCluster(t, 1, conf, Options{})
	bin := t.TempDir()
	script := "#!/bin/bash\ntouch " + bin + "/began; sleep 1; exec /usr/bin/sbatch \"$@\"\n"
	testutil.NoError(t, os.WriteFile(filepath.Join(bin, "sbatch"), []byte(script), 0o755))
	s := testutil.Must(New(Options{Bin: bin}))(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if _, err := os.Stat(filepath.Join(bin, "began")); err == nil {
				cancel()
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	id, err := s.Submit(ctx, job(t, "interrupted", "true"))
	if err != nil || len(jobsNamed(c, "interrupted")) != 1 || jobsNamed(c, "interrupted")[0] != id {
		t.Errorf("Submit = %q, %v; Slurm knows %v", id, err, jobsNamed(c, "interrupted"))
	}
}

// TestSlurmSlowEnds checks the outcomes of two jobs whose ends Slurm notices late: one exceeds its time limit, the
// other loses a node.
func TestSlurmSlowEnds(t *testing.T) {
	testutil.NeedAllCases(t) // two minutes
	c, s := startCluster(t, 3, conf, Options{})
	timeout := job(t, "timeout", "sleep 1000")
	timeout.Limit = time.Second
	dead := job(t, "dead", "srun sleep 1000")
	dead.Nodes = 2
	timeoutID, deadID := submit(t, s, timeout), submit(t, s, dead)
	await(t, s, deadID, dead, running)
	nodes := strings.Fields(c.Shell("scontrol show hostnames $(squeue -h -j " + deadID + " -o%N)"))
	c.StopNode(nodes[1])
	wantOutcome(t, await(t, s, deadID, dead, over), coll.JobNodeFail, "NODE_FAIL")
	time.Sleep(20 * time.Second)
	wantOutcome(t, await(t, s, timeoutID, timeout, over), coll.JobTimeout, "TIMEOUT")
}
