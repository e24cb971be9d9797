package slurm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/internal/testutil"
)

func TestCheckDirective(t *testing.T) {
	tests := []struct {
		directive, want string // want is part of the error, empty for no error
	}{
		{"--mem=0", ""},
		{"--licenses=bench:1", ""},
		{"--switches=1@10:00", ""},
		{"--contiguous", ""},
		{"--oversubscribe", ""},
		{"--oversubscribe=user", ""},
		{"--comment=a b 'c' $HOME", ""},
		{"--nodelist=n[1-4],m2", ""},
		{"--ntasks-per-core=1", ""},
		{"--mem", "want --mem=value"},
		{"--contiguous=1", "has no value"},
		{"-N4", "want a long option"},
		{"--mem=0 --array=1-3", ""}, // a single argument, so all of it is the value
		{"--mem=0\n--array=1-3", "want a long option"},
		{"--comment=a\x00b", "printable"},
		{"mem=0", "want a long option"},
		{"--", "want a long option"},
		{"--mem=", "want a long option"},
		{"; rm -rf /", "want a long option"},
		{"--array=1-3", "--array is refused: jobs would not run as asked for"},
		{"--arr=1-3", "--array is refused"},
		{"--no-kill", "--no-kill is refused"},
		{"--no-k", "--no-kill is refused"},
		{"--requeue", "--requeue is refused"},
		{"--req", "--requeue is refused"},
		{"--wrap=true", "--wrap is refused"},
		{"--output=/dev/null", "--output is refused: it is set for each job"},
		{"--partition=main", "--partition is refused: it has a key of its own"},
		{"--time-min=1", "--time-min is refused"},
		{"--hold", "--hold is refused"},
		{"--test-only", "--test-only is refused"},
		{"--help", "--help is refused: it runs nothing"},
	}
	for _, tc := range tests {
		err := CheckDirective(tc.directive)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("CheckDirective(%q) = %v, want %q", tc.directive, err, tc.want)
		}
	}
}

func TestNewRejects(t *testing.T) {
	for want, o := range map[string]Options{
		`partition "a,b": want one partition`: {Partition: "a,b"},
		`account " a": white space around it`: {Account: " a"},
		`qos "a\nb": character '\n'`:          {QOS: "a\nb"},
		`--array is refused`:                  {Directives: []string{"--array=1"}},
		`folder of the commands`:              {Bin: "/nosuch"},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New(%+v) = %v, want %q", o, err, want)
		}
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
	s, dir := fake(t, map[string]string{"sbatch": "echo 1"})
	good := job(t, "good", "true")
	for want, change := range map[string]func(*benchrunner.Submission){
		"backslash":                 func(s *benchrunner.Submission) { s.Dir = `/a\b` },
		"no such file or directory": func(s *benchrunner.Submission) { s.Dir += "/nosuch" },
	} {
		sub := good
		change(&sub)
		if _, err := s.Submit(t.Context(), sub); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Submit(%+v) = %v, want %q", sub, err, want)
		}
	}
	if got := calls(t, dir, "sbatch"); len(got) > 0 {
		t.Errorf("sbatch was called: %q", got)
	}
}

// TestSubmitAttempt checks which ID and which error Submit returns for different answers of sbatch.
func TestSubmitAttempt(t *testing.T) {
	const (
		refusal = `echo 'sbatch: error: Batch job submission failed: `
		policy  = refusal + `Job violates accounting/QOS policy (job submit limit, user'"'"'s size and/or time limits)' >&2; exit 1`
	)
	for _, tc := range []struct {
		name, sbatch, id string
		wantErr          error
		wantText         string
	}{
		{"at once", "echo 17", "17", nil, ""},
		{"with warnings", "echo 'sbatch: lua: hello' >&2; echo Welcome; echo 17; echo bye", "17", nil, ""},
		{"too many jobs in the queue", `echo 'sbatch: error: AssocMaxSubmitJobLimit' >&2; ` + policy, "", benchrunner.ErrUnavailable, "AssocMaxSubmitJobLimit"},
		{"larger than the account may", `echo 'sbatch: error: AssocMaxNodePerJobLimit' >&2; ` + policy, "", benchrunner.ErrRejected,
			"sbatch: AssocMaxNodePerJobLimit; Batch job submission failed: Job violates"},
		{"timed out", refusal + `Socket timed out on send/recv operation' >&2; exit 1`, "", benchrunner.ErrUnavailable, "Socket timed out"},
		{"killed", `kill -9 $$`, "", benchrunner.ErrUnavailable, "signal: killed"},
		{"the queue is full: sbatch sleeps", `echo 'sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying' >&2; sleep 60`, "",
			benchrunner.ErrUnavailable, "no answer in time"},
		{"no controller", refusal + `Unable to contact slurm controller (connect failure)' >&2; exit 1`, "", benchrunner.ErrUnavailable, "Unable to contact slurm controller"},
		{"disk of the controller is full", refusal + `I/O error writing script/environment to file' >&2; exit 1`, "", benchrunner.ErrUnavailable, "I/O error writing script"},
		{"no munge", `echo 'sbatch: error: Munge encode failed: Failed to access "/run/munge/munge.socket.2": No such file or directory (retrying ...)' >&2; ` +
			refusal + `Protocol authentication error' >&2; exit 1`, "", benchrunner.ErrUnavailable, "Munge encode failed"},
		{"a site's filter", `echo 'sbatch: error: Please state a project with -A' >&2; ` + refusal + `Unspecified error' >&2; exit 1`, "", benchrunner.ErrRejected,
			"Please state a project with -A; Batch job submission failed: Unspecified error"},
		{"an option of a newer Slurm", `echo "sbatch: unrecognized option '--propagate=NONE'" >&2; exit 255`, "", benchrunner.ErrRejected, "unrecognized option"},
		{"arrays refused", refusal + `Invalid job array specification' >&2; exit 1`, "", benchrunner.ErrRejected, "Invalid job array specification"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, _ := fake(t, map[string]string{"sbatch": tc.sbatch})
			s.block = 3 * time.Second
			id, err := s.Submit(t.Context(), job(t, "job", "true"))
			if id != tc.id || !errors.Is(err, tc.wantErr) || err != nil && !strings.Contains(err.Error(), tc.wantText) {
				t.Errorf("Submit = %q, %v; want %q, %v %q", id, err, tc.id, tc.wantErr, tc.wantText)
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
	_, err := s.run(t.Context(), command{"squeue", []string{"--all"}, queryEnv(os.Environ()), "/", 2 * time.Second})
	var f *failure
	if !errors.As(err, &f) || !f.timedOut || time.Since(begin) > time.Minute {
		t.Errorf("a command that hangs: %v after %v", err, time.Since(begin))
	}
	if _, err := os.Stat(filepath.Join(dir, "child")); err != nil {
		t.Error(err)
	}
}
