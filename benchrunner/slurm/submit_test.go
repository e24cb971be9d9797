package slurm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/internal/testutil"
)

func TestCheckDirective(t *testing.T) {
	for _, directive := range []string{
		"--mem=0",
		"--licenses=bench:1",
		"--switches=1@10:00",
		"--contiguous",
		"--oversubscribe",
		"--oversubscribe=user",
		"--comment=a b 'c' $HOME",
		"--nodelist=n[1-4],m2",
		"--ntasks-per-core=1",
		"--mem=0 --array=1-3", // a single argument, so all of it is the value
	} {
		if err := CheckDirective(directive); err != nil {
			t.Errorf("CheckDirective(%q) = %v", directive, err)
		}
	}
	golden := testutil.GoldenErrors(t)
	for _, directive := range []string{
		"--mem",
		"--contiguous=1",
		"-N4",
		"--mem=0\n--array=1-3",
		"--comment=a\x00b",
		"mem=0",
		"--",
		"--mem=",
		"; rm -rf /",
		"--array=1-3",
		"--arr=1-3",
		"--no-kill",
		"--no-k",
		"--requeue",
		"--req",
		"--wrap=true",
		"--output=/dev/null",
		"--partition=main",
		"--time-min=1",
		"--hold",
		"--test-only",
		"--help",
	} {
		golden(strconv.Quote(directive), CheckDirective(directive))
	}
}

func TestNewRejects(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	for name, o := range map[string]Options{
		"two partitions":          {Partition: "a,b"},
		"white space":             {Account: " a"},
		"two lines":               {QOS: "a\nb"},
		"array":                   {Directives: []string{"--array=1"}},
		"a folder without sbatch": {Bin: "/nosuch"},
	} {
		_, err := New(o)
		golden(name, err)
	}
}

func TestShow(t *testing.T) {
	s := testutil.Must(New(Options{Partition: "bench", Account: "mpi", QOS: "high", Reservation: "r1", Constraint: "a&b", Exclusive: true, Directives: []string{"--mem=0"}}))(t)
	got := s.Show(benchrunner.Submission{
		Name: "c.bcast.r1-1", Dir: "/scratch/a b/50%", Script: "/scratch/a b/50%/job.sh", Nodes: 4, PPN: 2, Limit: 61 * time.Second,
	})
	want := `sbatch --parsable --job-name=c.bcast.r1-1 '--chdir=/scratch/a b/50%' '--output=/scratch/a b/50%%/slurm.out' ` +
		`--open-mode=append --input=/dev/null --export=ALL --propagate=NONE --no-requeue --nodes=4 --ntasks=8 --ntasks-per-node=2 --time=2 ` +
		`--partition=bench --account=mpi --qos=high --reservation=r1 '--constraint=a&b' --exclusive --mem=0 '/scratch/a b/50%/job.sh'`
	if got != want {
		t.Errorf("Show = %s\nwant   %s", got, want)
	}
}

func TestSubmitRejects(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	s, dir := fake(t, map[string]string{"sbatch": "echo 1"})
	good := job(t, "good", "true")
	for name, change := range map[string]func(*benchrunner.Submission){
		"backslash": func(s *benchrunner.Submission) { s.Dir = `/a\b` },
		"no folder": func(s *benchrunner.Submission) { s.Dir += "/nosuch" },
	} {
		sub := good
		change(&sub)
		_, err := s.Submit(t.Context(), sub)
		golden(name, err)
	}
	if got := calls(t, dir, "sbatch"); len(got) > 0 {
		t.Errorf("sbatch was called: %q", got)
	}
}

// TestSubmitAttempt checks which ID and which error Submit returns for different answers of sbatch.
func TestSubmitAttempt(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	const (
		refusal = `echo 'sbatch: error: Batch job submission failed: `
		policy  = refusal + `Job violates accounting/QOS policy (job submit limit, user'"'"'s size and/or time limits)' >&2; exit 1`
	)
	for _, tc := range []struct {
		name, sbatch, id string
		wantErr          error
	}{
		{"at once", "echo 17", "17", nil},
		{"with warnings", "echo 'sbatch: lua: hello' >&2; echo Welcome; echo 17; echo bye", "17", nil},
		{"too many jobs in the queue", `echo 'sbatch: error: AssocMaxSubmitJobLimit' >&2; ` + policy, "", benchrunner.ErrUnavailable},
		{"larger than the account may", `echo 'sbatch: error: AssocMaxNodePerJobLimit' >&2; ` + policy, "", benchrunner.ErrRejected},
		{"timed out", refusal + `Socket timed out on send/recv operation' >&2; exit 1`, "", benchrunner.ErrUnavailable},
		{"killed", `kill -9 $$`, "", benchrunner.ErrUnavailable},
		{"the queue is full: sbatch sleeps", `echo 'sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying' >&2; sleep 60`, "",
			benchrunner.ErrUnavailable},
		{"no controller", refusal + `Unable to contact slurm controller (connect failure)' >&2; exit 1`, "", benchrunner.ErrUnavailable},
		{"disk of the controller is full", refusal + `I/O error writing script/environment to file' >&2; exit 1`, "", benchrunner.ErrUnavailable},
		{"no munge", `echo 'sbatch: error: Munge encode failed: Failed to access "/run/munge/munge.socket.2": No such file or directory (retrying ...)' >&2; ` +
			refusal + `Protocol authentication error' >&2; exit 1`, "", benchrunner.ErrUnavailable},
		{"a site's filter", `echo 'sbatch: error: Please state a project with -A' >&2; ` + refusal + `Unspecified error' >&2; exit 1`, "", benchrunner.ErrRejected},
		{"an option of a newer Slurm", `echo "sbatch: unrecognized option '--propagate=NONE'" >&2; exit 255`, "", benchrunner.ErrRejected},
		{"arrays refused", refusal + `Invalid job array specification' >&2; exit 1`, "", benchrunner.ErrRejected},
		{"rate limit of 23.02", refusal + `Rate limit exceeded, please retry momentarily' >&2; exit 1`, "", benchrunner.ErrUnavailable},
		{"standby of 23.11", refusal + `Controller is in standby mode, try a different controller' >&2; exit 1`, "", benchrunner.ErrUnavailable},
		{"maintenance of 24.11", refusal + `System submissions disabled' >&2; exit 1`, "", benchrunner.ErrUnavailable},
		{"timeout of 26.05", refusal + `Connection timed out establishing' >&2; exit 1`, "", benchrunner.ErrUnavailable},
		{"association of 23.11", refusal + `Invalid or unknown association' >&2; exit 1`, "", benchrunner.ErrRejected},
		{"accepted, with an unknown answer", `echo accepted >$dir/accepted; echo 'wrapper: log is full' >&2; exit 1`, "18", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sub := job(t, "job", "true")
			row := strings.Join([]string{"18", "PENDING", "0", "0", "0", "job", sub.Dir, "None"}, separator)
			s, _ := fake(t, map[string]string{
				"sbatch": tc.sbatch, "squeue": `[ ! -e $dir/accepted ] || printf '%s\n' '` + row + `'`, "sacct": "echo 'Slurm accounting storage is disabled' >&2; exit 1",
			})
			s.block = 3 * time.Second
			id, err := s.Submit(t.Context(), sub)
			if id != tc.id || !errors.Is(err, tc.wantErr) {
				t.Errorf("Submit = %q, %v; want %q, %v", id, err, tc.id, tc.wantErr)
			}
			if tc.wantErr != nil {
				golden(tc.name, err)
			}
		})
	}
}

func TestNoSlurm(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	s := testutil.Must(New(Options{}))(t)
	if _, err := s.Submit(t.Context(), job(t, "job", "true")); !errors.Is(err, benchrunner.ErrUnavailable) {
		t.Errorf("Submit without sbatch: %v", err)
	}
	if _, _, err := s.Find(t.Context(), job(t, "job", "true")); !errors.Is(err, benchrunner.ErrUnavailable) {
		t.Errorf("Find without squeue: %v", err)
	}
}

func TestCancelledContext(t *testing.T) {
	s, _ := fake(t, map[string]string{"sbatch": "exit 1", "squeue": "exit 1", "scancel": "exit 1"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sub := job(t, "job", "true")
	if _, err := s.Submit(ctx, sub); !errors.Is(err, context.Canceled) {
		t.Errorf("Submit: %v", err)
	}
	if _, err := s.Status(ctx, map[string]benchrunner.Submission{"1": sub}); !errors.Is(err, context.Canceled) {
		t.Errorf("Status: %v", err)
	}
	if err := s.Cancel(ctx, "1", sub); !errors.Is(err, context.Canceled) {
		t.Errorf("Cancel: %v", err)
	}
}

// TestEnvironments checks which environment variables jobs and query commands get.
func TestEnvironments(t *testing.T) {
	given := []string{
		"HOME=/h", "PATH=/p", "LD_LIBRARY_PATH=/l", "MODULEPATH=/m", "LMOD_DIR=/d", "LANG=de_DE", "LC_ALL=de_DE", "TZ=Asia/Tokyo", "TERM=x",
		"SLURM_CONF=/c", "SLURM_JOB_ID=1", "SBATCH_PARTITION=p", "SQUEUE_FORMAT=x", "SACCT_FORMAT=x", "SLURM_TIME_FORMAT=relative", "SLURM_JWT=t",
		"OMPI_MCA_coll=x", "SCRATCH=/s",
	}
	check := func(name string, got []string, want string) {
		t.Helper()
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, text, want)
		}
	}
	check("jobs", jobEnv(given), "HOME=/h PATH=/p LD_LIBRARY_PATH=/l MODULEPATH=/m LMOD_DIR=/d SLURM_CONF=/c SLURM_JWT=t LC_ALL=C")
	check("queries", queryEnv(given), "HOME=/h PATH=/p LD_LIBRARY_PATH=/l MODULEPATH=/m LMOD_DIR=/d LANG=de_DE TERM=x SLURM_CONF=/c SLURM_JWT=t "+
		"OMPI_MCA_coll=x SCRATCH=/s LC_ALL=C TZ=UTC SLURM_TIME_FORMAT=%s")
}

func TestCommandHangs(t *testing.T) {
	s, dir := fake(t, map[string]string{"squeue": "sleep 100 & echo $! >$dir/child; wait"})
	begin := time.Now()
	_, err := s.run(t.Context(), command{Name: "squeue", Args: []string{"--all"}, Env: queryEnv(os.Environ()), Dir: "/", Limit: 2 * time.Second})
	var f *failure
	if !errors.As(err, &f) || !f.TimedOut || time.Since(begin) > time.Minute {
		t.Errorf("a command that hangs: %v after %v", err, time.Since(begin))
	}
	if _, err := os.Stat(filepath.Join(dir, "child")); err != nil {
		t.Error(err)
	}
}
