package assembly_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/slurm"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/journal"
)

// scripted is a Slurm whose commands are shell scripts, with four nodes. Its jobs run on this machine.
type scripted struct{ *slurm.Scheduler }

func (s scripted) Capacity(context.Context) (benchrunner.Capacity, error) {
	return benchrunner.Capacity{Nodes: 4, PPN: 4, SeparateNodes: true}, nil
}

func (s scripted) Switches(context.Context) ([][]string, error) { return nil, nil }

// scriptedSlurm returns a scripted Slurm and its folder. A fault is a shell script that sbatch and squeue run first. It
// may use the variables `command`, `n` (how often this command has run, with this call), and the function `fail`, which
// ends the command with a message, `accept` (takes the job in a state with a reason) and `start` (starts job 1).
func scriptedSlurm(t *testing.T, fault string) (s scripted, dir string) {
	t.Helper()
	dir = t.TempDir()
	common := fmt.Sprintf(`#!/bin/bash
cd %s
command=${0##*/} US=$'\x1f'
echo . >>calls.$command
n=$(wc -l <calls.$command)
fail() { echo "$command: error: $*" >&2; exit 1; }
state() { printf '%%s\n' "$2$US$3" >state.$1.new && mv state.$1.new state.$1; }
run() { # ID
	. ./job.$1
	state $1 RUNNING None
	(cd "$dir" && SLURM_JOB_ID=$1 setsid bash "$script" >slurm.out 2>&1; cd "$OLDPWD"; state $1 COMPLETED None) </dev/null >/dev/null 2>&1 &
}
start() { read -r now <state.1; [ "${now%%%%$US*}" != PENDING ] || run 1; }
accept() { # STATE REASON
	id=$(($(ls job.* 2>/dev/null | wc -l) + 1))
	printf 'name=%%s dir=%%s script=%%s\n' "$name" "$dir" "$script" >job.$id
	if [ "$1" = RUNNING ]; then run $id; else state $id "$1" "$2"; fi
}
for a; do case $a in --job-name=*) name=${a#*=} ;; --chdir=*) dir=${a#*=} ;; esac; script=$a; done
%s
`, dir, fault)
	for name, body := range map[string]string{
		"sbatch": `accept RUNNING; echo $id`,
		"squeue": `for j in job.*; do
	[ -e $j ] || exit 0
	i=${j#job.}; . ./$j; IFS=$US read -r state reason <state.$i
	echo "$i$US$state${US}1$US${US}0$US$name$US$dir$US$reason"
done`,
		"scancel": `case $script in *[!0-9]*) ;; *) state $script CANCELLED None ;; esac`,
		"sacct":   `fail Slurm accounting storage is disabled`,
	} {
		testutil.NoError(t, testutil.WriteExecutable(filepath.Join(dir, name), common+body+"\n"))
	}
	t.Cleanup(func() { awaitScripted(t, dir) })
	return scripted{testutil.Must(slurm.New(slurm.Options{Bin: dir}))(t)}, dir
}

// awaitScripted waits until no job of a scripted Slurm runs.
func awaitScripted(t *testing.T, dir string) {
	t.Helper()
	for deadline := time.Now().Add(testutil.HangTimeout); ; time.Sleep(10 * time.Millisecond) {
		running := false
		for _, file := range testutil.Must(filepath.Glob(filepath.Join(dir, "state.*")))(t) {
			text, err := os.ReadFile(file)
			running = running || err != nil || strings.HasPrefix(string(text), "RUNNING")
		}
		if !running {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("a job runs on in %s", dir)
			return
		}
	}
}

// TestPreflightFaults runs the launch that reads the settings of the machine while Slurm has a fault. A fault of the
// machine ends no campaign and is said; one of the user ends the campaign with Slurm's reason.
func TestPreflightFaults(t *testing.T) {
	t.Parallel()
	cancelled := func(state, reason string) string {
		return `if [ $command$n = sbatch1 ]; then accept ` + state + ` "` + reason + `"; echo $id; exit; fi`
	}
	pending := func(reason string) string {
		return cancelled("PENDING", reason) + `
if [ $command$n = squeue4 ]; then start; fi`
	}
	refused := func(text string) string { return `[ $command != sbatch ] || fail ` + text }
	for i, tc := range []struct {
		name     string
		fault    string
		launcher string // script that the launcher runs first
		jobs     int    // that Slurm accepted
		notice   string // part of what tutti says
		err      error
	}{
		{name: "held", fault: pending("JobHeldAdmin"), jobs: 1, notice: "JobHeldAdmin"},
		{name: "no controller at the submission", fault: `[ $command$n != sbatch1 ] || fail "Batch job submission failed: Unable to contact slurm controller (connect failure)"`, jobs: 1, notice: "Unable to contact slurm controller"},
		{name: "refused", fault: refused("Batch job submission failed: Invalid qos specification"), notice: "", err: benchrunner.ErrRejected},

		{name: "nothing happens", jobs: 1},
		{name: "no controller while it runs", fault: `case $command$n in squeue[12]) fail "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" ;; esac`, jobs: 1},
		{name: "held by the user", fault: pending("JobHeldUser"), jobs: 1, notice: "JobHeldUser"},
		{name: "waits for nodes", fault: pending("Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"), jobs: 1, notice: "DRAINED"},
		{name: "cancelled", fault: cancelled("CANCELLED", "None"), jobs: 2, notice: "cancelled"},
		{name: "preempted", fault: cancelled("PREEMPTED", "None"), jobs: 2, notice: "PREEMPTED"},
		{name: "node failed", fault: cancelled("NODE_FAIL", "NodeDown"), jobs: 2, notice: "NODE_FAIL"},
		{name: "node did not boot", fault: cancelled("BOOT_FAIL", "None"), jobs: 2, notice: "BOOT_FAIL"},
		{name: "deadline", fault: cancelled("DEADLINE", "None"), jobs: 2, notice: "DEADLINE"},
		{name: "revoked", fault: cancelled("REVOKED", "None"), jobs: 2, notice: "REVOKED"},
		{name: "requeued and held", fault: cancelled("PENDING", "launch failed requeued held"), jobs: 2, notice: "requeued and held"},
		{name: "submissions full", fault: `[ $command$n != sbatch1 ] || fail "QOSMaxSubmitJobPerUserLimit"`, jobs: 1, notice: "QOSMaxSubmitJobPerUserLimit"},
		{name: "accepted with an unknown answer", fault: `if [ $command$n = sbatch1 ]; then accept RUNNING; fail "the plugin of the site says goodbye"; fi`, jobs: 1},
		{name: "accepted without an answer", fault: `if [ $command$n = sbatch1 ]; then accept RUNNING; fail "Socket timed out on send/recv operation"; fi`, jobs: 1, notice: "timed out"},
		{name: "never starts", fault: cancelled("PENDING", "PartitionTimeLimit"), jobs: 1, err: benchrunner.ErrRejected},
		{name: "no step", launcher: `echo "srun: error: Unable to confirm allocation for job 1: Unable to contact slurm controller (connect failure)" >&2; exit 1`, jobs: 2, notice: "Unable to confirm allocation"},
		{name: "node failed, exit code 0", launcher: `echo "srun: error: Node failure on n1" >&2; exit 0`, jobs: 2, notice: "Node failure"},
		{name: "disk full", launcher: `echo "cp: write error: No space left on device" >&2; exit 1`, jobs: 2, notice: "No space left on device"},
		{name: "signalled", launcher: `kill -TERM $$`, jobs: 2, notice: "signal"},
		{name: "no program", launcher: `exit 127`, jobs: 1, err: benchrunner.ErrNoStart},
		{name: "the launch fails", launcher: `exit 3`, jobs: 1, err: benchrunner.ErrNoStart},
	} {
		if i >= 3 && !testutil.AllCases() {
			break
		}
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, dir := scriptedSlurm(t, tc.fault)
			c, _, j := preflightCampaign(t, 0)
			var mu sync.Mutex
			said := ""
			c.Notice = func(err error) {
				mu.Lock()
				defer mu.Unlock()
				said += err.Error() + "\n"
			}
			c.SetScheduler(s)
			failOnce(t, c.Config.Libraries[0].LauncherPath, tc.launcher)
			var state journal.State
			_, err := c.ReadSite(t.Context(), c.Config.Libraries[0], &state, func(r journal.Record) error { return j.AppendTo(&state, r) })
			if !errors.Is(err, tc.err) || (err == nil) != (tc.err == nil) {
				t.Errorf("ReadSite = %v, want %v", err, tc.err)
			}
			if accepted := testutil.Must(filepath.Glob(filepath.Join(dir, "job.*")))(t); len(accepted) != tc.jobs {
				t.Errorf("%d jobs accepted, want %d", len(accepted), tc.jobs)
			}
			if !strings.Contains(said, tc.notice) {
				t.Errorf("said\n%swant %q", said, tc.notice)
			}
			for _, job := range state.Jobs {
				if job.State != coll.JobEnded {
					t.Errorf("job %+v has not ended", job)
				}
			}
			t.Log(strings.TrimSpace(fmt.Sprintf("%d jobs, %v; %s", tc.jobs, err, said)))
		})
	}
}

// failOnce makes a launcher run a script first, the first time.
func failOnce(t *testing.T, launcher, script string) {
	t.Helper()
	if script == "" {
		return
	}
	testutil.NoError(t, os.Rename(launcher, launcher+".right"))
	testutil.NoError(t, testutil.WriteExecutable(launcher, fmt.Sprintf("#!/bin/bash\nif [ ! -e %[1]s.ran ]; then touch %[1]s.ran; %[2]s; fi\nexec %[1]s.right \"$@\"\n", launcher, script)))
}
