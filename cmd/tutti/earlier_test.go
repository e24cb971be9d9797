package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/report"
)

// TestFromAndResumed starts a campaign from an earlier one, removes the folder of the earlier one, and
// resumes the campaign. It checks that the results equal those of an uninterrupted campaign.
func TestFromAndResumed(t *testing.T) {
	t.Parallel()
	first := reference(t)
	dir := t.TempDir()
	campaigntest.Small(t, dir)
	_, _ = mustTutti(t, codeDone, "tune", "-c", filepath.Join(dir, "small.yaml"), "--set", "seed=5", "--from", first)
	want := filepath.Join(dir, "out")
	journal := readFile(t, filepath.Join(want, "journal.jsonl"))
	testutil.NoError(t, os.RemoveAll(first))
	resumeCut(t, want, journal, cases(2, 4))
	for _, p := range reportOf(t, want).Problems {
		if len(p.Compared) != 1 || p.Compared[0].Campaign != "small" {
			t.Errorf("%s: the report compares with %+v, want the earlier campaign small", p.Collective, p.Compared)
		}
	}
}

func TestFromFaults(t *testing.T) {
	t.Parallel()
	first := reference(t)
	dir := t.TempDir()
	campaigntest.Small(t, dir)
	empty := t.TempDir()
	header, _, _ := bytes.Cut(readFile(t, filepath.Join(first, "journal.jsonl")), []byte("\n"))
	testutil.NoError(t, os.WriteFile(filepath.Join(empty, "journal.jsonl"), append(header, '\n'), 0o666))
	tests := []struct {
		name string
		from []string
		want string
	}{
		{"no folder", []string{filepath.Join(dir, "none")}, "--from: no journal in "},
		{"nothing measured", []string{empty}, "nothing was measured there"},
		{"twice", []string{first, first}, "want each once"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			args := []string{"tune", "-c", filepath.Join(dir, "small.yaml")}
			for _, f := range tc.from {
				args = append(args, "--from", f)
			}
			if _, stderr := mustTutti(t, codeInput, args...); !strings.Contains(stderr, tc.want) {
				t.Errorf("stderr %q, want %q in it", stderr, tc.want)
			}
		})
	}
}

// TestFromAnotherMachine starts from an earlier campaign with another machine, another release of Open MPI,
// and without alltoall. The output warns of each difference. The earlier measurements help with allreduce
// and do not affect alltoall.
func TestFromAnotherMachine(t *testing.T) {
	t.Parallel()
	first := reference(t)
	dir := t.TempDir()
	campaigntest.Small(t, dir)
	file := filepath.Join(dir, "small.yaml")
	text := bytes.Replace(readFile(t, file), []byte("4.1.4"), []byte("5.0.9"), 1)
	testutil.NoError(t, os.WriteFile(file, text, 0o666))
	run := func(name string, args ...string) (facts report.Facts, alltoall, stdout string) {
		out := filepath.Join(dir, name)
		stdout, _ = mustTutti(t, codeDone, append([]string{"tune", "-c", file, "--out", out, "--set", "machine=hilltop",
			"--set", "collectives=allreduce,alltoall", "--set", "runner.data=data/C_allreduce.csv,data/C_alltoall.csv"}, args...)...)
		facts = reportOf(t, out)
		for line := range strings.Lines(string(readFile(t, filepath.Join(out, "selection.csv")))) {
			if strings.Contains(line, ",alltoall,") {
				alltoall += line
			}
		}
		return facts, alltoall, stdout
	}
	facts, alltoall, stdout := run("from", "--from", first)
	for _, want := range []string{
		`was on another machine, "" instead of "hilltop"`, "was with openmpi 4.1.4 instead of 5.0.9", "has no measurement of mpich alltoall, which starts without it",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("stdout lacks %q:\n%s", want, stdout)
		}
	}
	for _, p := range facts.Problems {
		if known := len(p.Compared) > 0; known != (p.Collective == "allreduce") {
			t.Errorf("%s %s is compared with the earlier campaign: %v", p.Library, p.Collective, known)
		}
	}
	if _, anew, _ := run("anew"); anew != alltoall || anew == "" {
		t.Errorf("alltoall after an earlier campaign (-) and without one (+):\n%s", cmp.Diff(alltoall, anew))
	}
}
