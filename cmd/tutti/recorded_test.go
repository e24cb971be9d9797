package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tutti/internal/testutil/campaigntest"
)

// TestRecordedWarning: a row that cannot be used is told on the terminal and in the
// report.
func TestRecordedWarning(t *testing.T) {
	dir := t.TempDir()
	stdout := tuneOn(t, dir, string(recordedRows(t))+"allreduce,rdb,4,1,16,-5,1,1,1\n")
	at := slices.IndexFunc(reportOf(t, filepath.Join(dir, "out")).Warnings, func(w string) bool {
		return strings.HasPrefix(w, "in.csv: 1 x impossible time, first at line 476: ") && strings.Contains(stdout, "warning: "+w+"\n")
	})
	if at < 0 {
		t.Errorf("no warning in the report and on the terminal:\n%s", stdout)
	}
}

// TestOnePoint measures everything there is: the selection is as good as the
// measurements are.
func TestOnePoint(t *testing.T) {
	header, _, _ := strings.Cut(string(recordedRows(t)), "\n")
	stdout := tuneOn(t, t.TempDir(), header+"\nallreduce,rdb,4,1,16,127.8,127.8,127.8,0.16\n")
	if strings.Count(stdout, "│ converged │    100 % │") != 2 {
		t.Errorf("not converged:\n%s", stdout)
	}
}

// recordedRows are the data of the small campaign.
func recordedRows(t *testing.T) []byte {
	t.Helper()
	return readFile(t, filepath.Join(campaigntest.Recorded(t), "C_allreduce.csv"))
}

// tuneOn runs the small campaign in dir on other recorded data.
func tuneOn(t *testing.T, dir, text string) (stdout string) {
	t.Helper()
	file := campaigntest.Small(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "in.csv"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	stdout, _ = mustTutti(t, codeDone, "tune", "-c", file, "--set", "runner.data=in.csv")
	return stdout
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
