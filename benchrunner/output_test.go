package benchrunner_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

func TestLines(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"plain", "a\nb\n", []string{"a", "b"}},
		{"last line cut", "a\nb 1.2", []string{"a"}},
		{"nothing", "", nil},
		{"carriage returns", "a\r\nb\r\n", []string{"a", "b"}},
		{"Open MPI tags", "[1,0]<stdout>:# Size\n[1,12]<stdout>:4   0.9\n", []string{"# Size", "4   0.9"}},
		{"Open MPI 5 tags", "[prterun-n1-77@1,0]<stdout>: # Size\n", []string{"# Size"}},
		{"Open MPI time stamps", "Sat Nov 21 08:14:55 2026<stdout>:4   0.36\n", []string{"4   0.36"}},
		{"MPICH tags, inside lines as well", "[0] # Size    [0]    Avg Latency(us)[0] \n[0] 1         [0]               0.24[0] \n",
			[]string{"# Size       Avg Latency(us)", "1                       0.24"}},
		{"brackets of the program", "using [1048576] instead.\n", []string{"using [1048576] instead."}},
		{"Slurm tags", " 0: # Size\n11: 4    0.2\n", []string{"# Size", "4    0.2"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, slices.Collect(benchrunner.Output{Stdout: []byte(tc.text)}.Lines())); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestLastWords(t *testing.T) {
	const srun = "srun: error: n1: task 0: Exited with exit code 3\nsrun: launch/slurm: _step_signal: Terminating StepId=7.6\n"
	row := strings.Repeat("-", 74) + "\n"
	tests := []struct{ name, stderr, stdout, want string }{
		{"nothing", "", "", ""},
		{"standard error first", "no memory\n", "done\n", "no memory"},
		{"standard output", "tutti: process on host n1\n", "giving up\n-----\n", "giving up"},
		{"the program, not srun", "tutti: process on host n1\nno memory\n" + srun, "# Size\n", "no memory"},
		{"the program, not its step", "no memory\nslurmstepd: error: *** STEP 7.6 ON n1 CANCELLED AT 2026-11-21T10:00:00 ***\n" + srun, "", "no memory"},
		{"the program, not mpirun", "no memory\n" + row + "mpirun detected that one\n  Exit code:    3\n" + row, "", "no memory"},
		{"PRRTE alone", "\n" + row + "There are not enough slots available\nin the system\n\n* \"--prtemca N\"\n" + row, "# Size\n", "There are not enough slots available in the system * \"--prtemca N\""},
		{"hydra alone", "[mpiexec@vm] match_arg (utils/args/args.c:163): unrecognized argument foo\n[mpiexec@vm] main (ui/mpich/mpiexec.c:127): error parsing parameters\n", "", "[mpiexec@vm] match_arg (utils/args/args.c:163): unrecognized argument foo"},
		{"the program, not a shell", "no memory\nTerminated\n" + srun, "", "no memory"},
		{"srun, not a shell", "Killed\n" + srun, "", "srun: error: n1: task 0: Exited with exit code 3"},
		{"a shell alone", "Terminated\n", "# Size\n", "Terminated"},
		{"srun alone", srun, "# Size\n", "srun: error: n1: task 0: Exited with exit code 3"},
	}
	for _, tc := range tests {
		if got := (benchrunner.Output{Stderr: []byte(tc.stderr), Stdout: []byte(tc.stdout)}).LastMessage(); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestFirstWords(t *testing.T) {
	for stderr, want := range map[string]string{
		"": "",
		"----\n[1,0]<stderr>: prog: error while loading shared libraries: libmpi.so.40\nsrun: error: n1\n": "prog: error while loading shared libraries: libmpi.so.40",
		"\n  srun: error: execve(): no such file\nmore":                                                    "srun: error: execve(): no such file",
	} {
		if got := (benchrunner.Output{Stderr: []byte(stderr)}).FirstMessage(); got != want {
			t.Errorf("FirstMessage of %q = %q, want %q", stderr, got, want)
		}
	}
}

func TestRefusal(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"none", "# OSU MPI Broadcast Latency Test v7.4\n", ""},
		{"Open MPI", "An invalid value was supplied for an enum variable.\n\n  Variable     : coll_tuned_bcast_algorithm\n  Value        : 99\n  Valid values : 0:\"ignore\"\n",
			"Open MPI has no value 99 for coll_tuned_bcast_algorithm and ran its own choice"},
		{"Open MPI, cut", "An invalid value was supplied for an enum variable.\n", "Open MPI refused an algorithm and ran its own choice"},
		{"MPICH, print", "User set collective algorithm is not usable for the provided arguments\nReduce_scatter_block noncommutative cannot be applied.\n",
			"MPICH: Reduce_scatter_block noncommutative cannot be applied"},
		{"MPICH, error", "MPIR_Bcast_impl(345): User set collective algorithm is not usable for the provided arguments\n", "MPICH: User set collective algorithm is not usable"},
		{"MPICH, unknown", "Other MPI error, Invalid MPIR_CVAR_BCAST_INTRA_ALGORITHM value (nosuch)\n", "MPICH: Invalid MPIR_CVAR_BCAST_INTRA_ALGORITHM value (nosuch)"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			for _, out := range []benchrunner.Output{{Stdout: []byte(tc.text)}, {Stderr: []byte(tc.text)}} {
				if got := out.Refusal(); got != tc.want {
					t.Errorf("Refusal = %q, want %q", got, tc.want)
				}
			}
		})
	}
}

func TestPlacementError(t *testing.T) {
	tests := []struct {
		name   string
		hosts  string
		layout coll.Layout
		want   string
	}{
		{"as asked", "a a b b", coll.Layout{Nodes: 2, PPN: 2}, ""},
		{"all on one", "a a a a", coll.Layout{Nodes: 2, PPN: 2}, "4 ranks on a, want 2 on each of 2 nodes"},
		{"uneven", "a a a b", coll.Layout{Nodes: 2, PPN: 2}, "3 ranks on a, want 2 on each of 2 nodes"},
		{"too wide", "a b c d", coll.Layout{Nodes: 2, PPN: 2}, "1 ranks on a, want 2 on each of 2 nodes"},
		{"too few", "a b", coll.Layout{Nodes: 2, PPN: 2}, "2 ranks started, want 4"},
		{"none", "", coll.Layout{Nodes: 1, PPN: 1}, "0 ranks started, want 1"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var text strings.Builder
			for _, h := range strings.Fields(tc.hosts) {
				text.WriteString("[1,3]<stderr>:tutti: process on host " + h + "\n")
			}
			if got := (benchrunner.Output{Stderr: []byte(text.String())}).PlacementError(tc.layout); got != tc.want {
				t.Errorf("PlacementError = %q, want %q", got, tc.want)
			}
		})
	}
}

// TestReportHosts checks the command that ReportHosts returns. It must print the host once, then run the
// program with unchanged arguments.
func TestReportHosts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b's")
	testutil.NoError(t, os.Mkdir(dir, 0o777))
	cmd := benchrunner.ReportHosts(dir, benchrunner.Command{Args: []string{"printf", "%s\n", "$HOME", "a  b", ""}, Files: map[string][]byte{"list": []byte("8\n")}})
	if got := cmd.Executable(); got != "printf" {
		t.Errorf("Executable = %q, want printf", got)
	}
	for name, text := range cmd.Files {
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o666))
	}
	if len(cmd.Files) != 2 {
		t.Errorf("%d files, want the program's own and one more", len(cmd.Files))
	}
	stdout, stderr := run(t, cmd.Args)
	if stdout != "$HOME\na  b\n\n" {
		t.Errorf("the program got %q", stdout)
	}
	if got := (benchrunner.Output{Stderr: []byte(stderr)}).PlacementError(coll.Layout{Nodes: 1, PPN: 1}); got != "" {
		t.Errorf("PlacementError = %q of %q", got, stderr)
	}
}

func run(t *testing.T, args []string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	return out.String(), errs.String()
}
