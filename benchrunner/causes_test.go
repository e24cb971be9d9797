package benchrunner_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

// TestCausesReference checks that the reference of failures has the table of causes. With -update it writes the table.
func TestCausesReference(t *testing.T) {
	const path, begin, end = "../docs/reference/failures.md", "<!-- causes -->\n", "<!-- end of causes -->\n"
	text := testutil.Must(os.ReadFile(path))(t)
	before, rest, ok := bytes.Cut(text, []byte(begin))
	_, after, okToo := bytes.Cut(rest, []byte(end))
	if !ok || !okToo {
		t.Fatalf("%s has no table of causes", path)
	}
	table := "| cause | fault of | signs | what tutti does |\n|---|---|---|---|\n"
	for _, c := range benchrunner.Causes() {
		table += fmt.Sprintf("| %s | %s | %s | %s |\n", c.Cause, c.Fault, c.Signs, c.Consequence)
	}
	testutil.CheckGolden(t, "../"+path, []byte(string(before)+begin+table+end+string(after)))
}

// TestFaults checks that every cause has one entry with one of the three faults.
func TestFaults(t *testing.T) {
	seen := map[benchrunner.Cause]bool{}
	for _, c := range benchrunner.Causes() {
		if seen[c.Cause] {
			t.Errorf("%s is listed twice", c.Cause)
		}
		seen[c.Cause] = true
		switch c.Fault {
		case benchrunner.FaultCandidate, benchrunner.FaultMachine, benchrunner.FaultUser:
		default:
			t.Errorf("%s: fault %q", c.Cause, c.Fault)
		}
	}
	if f := benchrunner.Cause("").Fault(); f != "" {
		t.Errorf("no cause has the fault %q", f)
	}
}

// TestJobCause checks who is at fault when a job ends in each way: only a running launch that uses up the time or the
// memory of its job.
func TestJobCause(t *testing.T) {
	for _, o := range []coll.JobOutcome{
		coll.JobCompleted, coll.JobFailed, coll.JobTimeout, coll.JobCancelled, coll.JobNodeFail, coll.JobOutOfMemory, coll.JobLost,
	} {
		for _, running := range []bool{false, true} {
			want := benchrunner.FaultMachine
			if running && (o == coll.JobTimeout || o == coll.JobOutOfMemory) {
				want = benchrunner.FaultCandidate
			}
			if got := benchrunner.JobCause(o, running).Fault(); got != want {
				t.Errorf("%s, a launch runs: %t: fault of the %s, want %s", o, running, got, want)
			}
		}
	}
}

// TestNoLauncher checks that a missing launcher comes with what to do, and a missing program does not.
func TestNoLauncher(t *testing.T) {
	for stderr, want := range map[string]bool{
		"tutti: line 13: exec: mpiexec.hydra: not found\n": true, "tutti: 13: exec: srun: not found\n": true,
		"env: 'srun': No such file or directory\n": true, "timeout: failed to run command ‘mpirun’: No such file or directory\n": true,
		"tutti: line 13: exec: /opt/bench: not found\n": false, "env: '/opt/bench': No such file or directory\n": false,
	} {
		out := benchrunner.Output{Ended: true, Exit: 127, Stderr: []byte(stderr)}
		failed := func(benchrunner.Case) (benchrunner.Outcome, bool) { return benchrunner.Outcome{}, false }
		o := benchrunner.Outcomes(benchrunner.Launch{Cases: make([]benchrunner.Case, 1)}, out, false, failed)[0]
		if got := strings.Contains(o.Error, "or set launcher_path"); got != want {
			t.Errorf("%q: %s: says what to do: %t, want %t", stderr, o.Error, got, want)
		}
	}
}

// TestLaunchCauses checks the cause of a launch without results, from what its launcher prints.
func TestLaunchCauses(t *testing.T) {
	const (
		hydraTerm  = "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Terminated (signal 15)\n"
		hydraCrash = "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)\n"
	)
	tests := []struct {
		name, stderr string
		exit         int
		begun        bool
		want         benchrunner.Cause // "" for a fault of the candidate
	}{
		{"srun: node failure, exit code 0", "srun: error: Node failure on n1\n", 0, true, benchrunner.NodeFailed},
		{"srun: node failure", "srun: error: Node failure on n1\nsrun: error: n1: task 0: Killed\n", 9, true, benchrunner.NodeFailed},
		{"srun: lost step", "srun: error: Aborting, io error and missing step on node 0\n", 1, true, benchrunner.NodeFailed},
		{"srun: preempted", "slurmstepd: error: *** STEP 5.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO PREEMPTION ***\n", 143, true, benchrunner.NodeFailed},
		{"srun: no allocation", "srun: error: Unable to confirm allocation for job 5: Unable to contact slurm controller (connect failure)\n", 1, false, benchrunner.NoStep},
		{"srun: no nodes in time", "srun: Job 5 step creation temporarily disabled, retrying (Requested nodes are busy)\n", 1, false, benchrunner.NoStep},
		{"srun: slurmd does not answer", "srun: error: Task launch for StepId=5.0 failed on node n1: Communication connection failure\n", 1, false, benchrunner.NoStep},
		{"srun: more ranks than the job has", "srun: error: Unable to create step for job 5: More processors requested than permitted\n", 1, false, ""},
		{"srun: no such program", "slurmstepd: error: execve(): /opt/bench: No such file or directory\nsrun: error: n1: tasks 0-1: Exited with exit code 2\n", 2, false, benchrunner.NoProgram},
		{"srun: program missing on one node", "srun: error: n1: task 0: Exited with exit code 127\nsrun: error: n2: task 1: Terminated\n", 143, false, benchrunner.NoProgram},
		{"srun: program not executable on some nodes", "srun: error: n[1-2]: tasks 0-1: Exited with exit code 126\nsrun: error: n3: task 2: Terminated\n", 143, false, benchrunner.NoProgram},
		{"srun: exit code 127 after the program began", "srun: error: n1: task 0: Exited with exit code 127\nsrun: error: n2: task 1: Terminated\n", 143, true, ""},
		{"dash: no such program", "/out/jobs/j/3/placed.sh: 3: exec: /opt/osu_allreduce: not found\n", 143, false, benchrunner.NoProgram},
		{"bash: program not executable", "/out/jobs/j/3/placed.sh: line 3: /opt/osu_allreduce: Permission denied\n", 143, false, benchrunner.NoProgram},
		{"mpirun: program missing on one node", "mpirun detected that one or more processes exited with non-zero status, thus causing\nthe job to be terminated. The first process to do so was:\n\n  Process name: [[5,1],0]\n  Exit code:    127\n", 143, false, benchrunner.NoProgram},
		{"hydra: program missing on one node", "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   EXIT CODE: 127\n", 255, false, benchrunner.NoProgram},
		{"srun: terminated", "srun: error: n1: task 0: Terminated\n", 143, true, benchrunner.Signalled},
		{"srun: a crash, and others terminated", "srun: error: n1: task 0: Segmentation fault (core dumped)\nsrun: error: n2: task 1: Terminated\n", 143, true, ""},
		{"hydra: terminated", hydraTerm, 15, true, benchrunner.Signalled},
		{"hydra: crash", hydraCrash, 11, true, ""},
		{"hydra: no such program", "[proxy:0:0@n1] HYDU_create_process (utils/launch/launch.c:73): execvp error on file ./bench (No such file or directory)\n", 255, false, benchrunner.NoProgram},
		{"hydra: proxy lost", "[mpiexec@n1] control_cb (pm/pmiserv/pmiserv_cb.c:206): assert (!closed) failed\n", 7, true, benchrunner.NodeFailed},
		{"hydra: its proxy is missing", "[mpiexec@vm] HYDU_create_process (utils/launch/launch.c:73): execvp error on file /home/me/bin/hydra_pmi_proxy (No such file or directory)\n[mpiexec@vm] HYD_pmcd_pmiserv_proxy_init_cb (pm/pmiserv/pmiserv_cb.c:446): assert (!closed) failed\n", 255, false, benchrunner.NoProgram},
		{"hydra: its proxy is missing on a node", "bash: line 1: /opt/mpich/bin/hydra_pmi_proxy: No such file or directory\n[mpiexec@n1] control_cb (pm/pmiserv/pmiserv_cb.c:206): assert (!closed) failed\n", 255, false, benchrunner.NoProgram},
		{"hydra: a proxy that does not answer", "[mpiexec@vm] HYD_pmcd_pmiserv_proxy_init_cb (pm/pmiserv/pmiserv_cb.c:446): assert (!closed) failed\n", 255, false, benchrunner.LauncherFailed},
		{"hydra: assertion on its arguments", "[mpiexec@node015] mpiexec_get_parameters (../../src/pm/i_hydra/mpiexec/mpiexec_params.c:1233): assert (my_argv[1] != NULL) failed\n", 255, false, benchrunner.LauncherFailed},
		{"hydra: assertion while the program runs", "[mpiexec@n1] stdoe_cb (./ui/utils/uiu.c:332): assert (!closed) failed\n", 255, true, benchrunner.LauncherFailed},
		{"hydra: assertion of a program", "bench: bench.c:7: main: Assertion `n > 0' failed.\nYOUR APPLICATION TERMINATED WITH THE EXIT STRING: Aborted (signal 6)\n", 134, true, ""},
		{"srun: step cancelled", "srun: Job step aborted: Waiting up to 7 seconds for job step to finish.\nslurmstepd-n1: error: *** STEP 5.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***\nsrun: error: n1: task 0: Killed\n", 137, true, benchrunner.JobCancelled},
		{"srun: job cancelled before it measured", "slurmstepd: error: *** JOB 5 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***\n", 1, false, benchrunner.JobCancelled},
		{"srun: a step cancelled after a crash", "srun: error: n1: task 0: Segmentation fault\nslurmstepd-n1: error: *** STEP 5.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***\nsrun: error: n2: task 1: Killed\n", 139, true, ""},
		{"srun: a crash, reported after its step was cancelled", "slurmstepd-n1: error: *** STEP 5.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***\nsrun: error: n1: task 0: Segmentation fault\n", 139, true, ""},
		{"srun: a step cancelled after MPI_Abort", "application called MPI_Abort(MPI_COMM_WORLD, 3) - process 0\nslurmstepd-n1: error: *** STEP 5.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***\nsrun: error: n2: task 1: Killed\n", 3, true, ""},
		{"hydra: its step cancelled", "slurmstepd-n1: error: *** STEP 3.13 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***\n[proxy:0:1@n2] HYD_pmcd_pmip_control_cmd_cb (pm/pmiserv/pmip_cb.c:899): assert (!closed) failed\nsrun: error: n2: task 1: Exited with exit code 7\n[mpiexec@vm] HYDT_bscu_wait_for_completion (tools/bootstrap/utils/bscu_wait.c:73): one of the processes terminated badly; aborting\n", 255, false, benchrunner.JobCancelled},
		{"hydra: a step cancelled after a crash", "slurmstepd-n1: error: *** STEP 3.13 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   EXIT CODE: 11\n", 11, true, ""},
		{"mpirun: no daemon on a node", "bash: orted: command not found\nORTE was unable to reliably start one or more daemons.\n", 1, false, benchrunner.NoProgram},
		{"mpirun: no agent", "The value of the MCA parameter \"plm_rsh_agent\" was set to a path\nthat could not be found:\n\n  plm_rsh_agent: /nope\n", 243, false, benchrunner.NoProgram},
		{"mpirun: internal error", "[vm:31703] [[INVALID],INVALID] ORTE_ERROR_LOG: Not found in file ../../../orte/runtime/orte_init.c at line 247\n", 1, false, benchrunner.LauncherFailed},
		{"mpirun: terminated", "mpirun noticed that process rank 0 with PID 0 on node vm exited on signal 15 (Terminated).\n", 143, true, benchrunner.Signalled},
		{"mpirun: crash", "mpirun noticed that process rank 0 with PID 0 on node vm exited on signal 11 (Segmentation fault).\n", 139, true, ""},
		{"mpirun: daemon lost", "ORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[1,0],0] on node n1\n", 205, true, benchrunner.NodeFailed},
		{"mpirun 5: daemon lost", "PRTE has lost communication with a remote daemon.\n", 205, true, benchrunner.NodeFailed},
		{"mpirun: no such program", "mpirun was unable to launch the specified application as it could not access\nor execute an executable:\n\nExecutable: ./nono\n", 132, false, benchrunner.NoProgram},
		{"no launcher", "env: 'srun': No such file or directory\n", 127, false, benchrunner.NoProgram},
		{"not executable", "timeout: failed to run command 'bench': Permission denied\n", 126, false, benchrunner.NoProgram},
		{"library missing", "bench: error while loading shared libraries: libmpi.so.12: cannot open shared object file: No such file or directory\n", 127, false, benchrunner.NoProgram},
		{"exit code 127 of a program that has begun", "", 127, true, ""},
		{"disk full", "bench: write: No space left on device\n", 1, true, benchrunner.DiskFull},
		{"interrupted", "", 130, true, benchrunner.Signalled},
		{"hangup", "", 129, true, benchrunner.Signalled},
		{"killed, perhaps for its memory", "", 137, true, ""},
		{"aborts", "Abort(1) on node 0: MPI error\n", 1, true, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s := benchrunner.Launch{Cases: make([]benchrunner.Case, 2)}
			out := benchrunner.Output{Ended: true, Exit: tc.exit, Stderr: []byte(tc.stderr)}
			for _, o := range benchrunner.Outcomes(s, out, tc.begun, func(benchrunner.Case) (benchrunner.Outcome, bool) { return benchrunner.Outcome{}, false })[:1] {
				if o.Cause != tc.want || (o.State == benchrunner.OutcomeNotReached) != (tc.want != "") {
					t.Errorf("%s %s %q: %s, want cause %q", o.State, o.Phase, o.Cause, o.Error, tc.want)
				}
				if tc.want != "" && (tc.want.Fault() != benchrunner.FaultMachine || strings.Contains(o.Error, "\n")) {
					t.Errorf("fault of the %s, message %q: want a line about the machine", tc.want.Fault(), o.Error)
				}
			}
		})
	}
}
