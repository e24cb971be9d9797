package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
)

// mustRun runs a command line that must end with the given exit code.
func mustRun(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), args, &out, &errs); code != want {
		t.Fatalf("tutti-lab %q: exit code %d, want %d\n%s%s", args, code, want, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	return testutil.Must(os.ReadFile(path))(t)
}

// TestEvaluateKeep checks that the command `evaluate` continues from a file of outcomes, and that a line that
// is not JSON leads to an error.
func TestEvaluateKeep(t *testing.T) {
	dir := t.TempDir()
	keep := filepath.Join(dir, "o.jsonl")
	args := []string{"evaluate", "--data", filepath.Join(campaigntest.Recorded(t), "C_alltoall.csv"), "--versus", "random", "--strategy", "random,uncertainty", "--seeds", "1", "--keep", keep}
	first, progress := mustRun(t, exitDone, args...)
	again, none := mustRun(t, exitDone, args...)
	if first != again || !strings.Contains(progress, "seed 1") || none != "" {
		t.Errorf("the second run differs: %s%s%s%s", first, progress, again, none)
	}
	content := readFile(t, keep)
	testutil.NoError(t, os.WriteFile(keep, append(content, "broken\n"...), 0o600))
	if _, stderr := mustRun(t, exitFailed, args...); !strings.Contains(stderr, "o.jsonl: line 4: ") {
		t.Errorf("a broken file: %s", stderr)
	}
	args[len(args)-1] = filepath.Join(dir, "none", "o.jsonl")
	mustRun(t, exitFailed, args...)
}

// TestCalibrateKeepRefuses checks that the command `calibrate` does not change a file that it did not write.
func TestCalibrateKeepRefuses(t *testing.T) {
	keep := filepath.Join(t.TempDir(), "notes.txt")
	testutil.NoError(t, os.WriteFile(keep, []byte("notes of mine"), 0o600))
	data := filepath.Join(campaigntest.Recorded(t), "C_alltoall.csv")
	_, stderr := mustRun(t, exitFailed, "calibrate", "--data", data, "--keep", keep)
	if !strings.Contains(stderr, "no file of calibrations") || string(readFile(t, keep)) != "notes of mine" {
		t.Errorf("%s; the file holds %q", stderr, readFile(t, keep))
	}
	mustRun(t, exitUsage, "calibrate", "--data", data, "--strategy", "fact")
}

func TestFigure(t *testing.T) {
	data, out := filepath.Join(campaigntest.Recorded(t), "C_alltoall.csv"), t.TempDir()
	stdout, _ := mustRun(t, exitDone, "figure", "fig3", "--data", data, "--seeds", "1", "--trees", "5", "--out", out)
	if stdout != string(readFile(t, filepath.Join(out, "fig3.csv"))) {
		t.Errorf("the table differs from the file: %s", stdout)
	}
	mustRun(t, exitUsage, "figure", "fig1", "--data", data)
}

// TestModelsRefuses checks that wrong flags are reported before any file is read.
func TestModelsRefuses(t *testing.T) {
	for flags, want := range map[string]string{
		"":                                "--data FILE is missing",
		"--data none.csv --sizes 60,30":   "sizes [60 30]",
		"--data none.csv --strategy fact": "--strategy fact",
		"--data none.csv --format xml":    "xml",
	} {
		_, stderr := mustRun(t, exitUsage, append([]string{"models"}, strings.Fields(flags)...)...)
		if !strings.Contains(stderr, want) {
			t.Errorf("%s: %s, want %q", flags, stderr, want)
		}
	}
	mustRun(t, exitFailed, "models", "--data", "none.csv")
}

func TestCluster(t *testing.T) {
	out, _ := mustRun(t, exitDone, "cluster", "--members", "32", "--outliers", "0")
	if !regexp.MustCompile(`FRAM, 1 node +32 +round trips +spectral +1\.000`).MatchString(out) {
		t.Errorf("output:\n%s", out)
	}
	file := filepath.Join(t.TempDir(), "plogp.json")
	testutil.NoError(t, os.WriteFile(file, []byte(`[{"class":"n1/0:n1/1","a":{"host":"n1","rank":0},"b":{"host":"n1","rank":1},"latency":1e-6,"sizes":[{"bytes":1}]}]`), 0o666))
	if _, stderr := mustRun(t, exitFailed, "cluster", file); !strings.Contains(stderr, "the ranks have no groups to find") {
		t.Errorf("one node of two ranks: %s", stderr)
	}
	mustRun(t, exitUsage, "cluster", "--repetitions", "0")
	mustRun(t, exitUsage, "cluster", "--members", "1")
	mustRun(t, exitUsage, "cluster", "--outliers", "2")
}
