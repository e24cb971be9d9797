package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/campaign/export"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/report"
)

// TestExcludedInTheReport checks that the report lists each excluded candidate with its last
// error, and warns of each.
func TestExcludedInTheReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	campaigntest.Small(t, dir)
	mustTutti(t, codeDone, "tune", "-c", filepath.Join(dir, "small.yaml"), "--set", "method=fact",
		"--set", "runner.failures=0.5", "--set", "stop.mistakes=1", "--set", "stop.slowdown=9", "--set", "hpo.trials=0")
	f := reportOf(t, filepath.Join(dir, "out"))
	if len(f.Excluded) == 0 {
		t.Fatal("half of the benchmarks fail, but none is given up")
	}
	warned := 0
	for _, p := range f.Problems {
		for _, w := range p.Warnings {
			if strings.Contains(w, "is given up after 2 attempts") {
				warned++
			}
		}
	}
	if warned != len(f.Excluded) {
		t.Errorf("%d candidates excluded, %d warnings of them", len(f.Excluded), warned)
	}
	for _, e := range f.Excluded {
		if e.Attempts != 2 || e.Phase != "run" || e.Error != "simulated failure" || e.Algorithm.Name == "" || e.Nodes < 1 {
			t.Errorf("excluded: %+v", e)
		}
	}
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	content := testutil.Must(os.ReadFile(path))(t)
	return content
}

// TestTrace checks a campaign for the trace of an application that calls allreduce with one size. The
// weights from the trace must determine where tutti measures, and must appear in the report.
func TestTrace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	campaigntest.Small(t, dir)
	trace := "collective,processes,ppn,msg_bytes,calls\nallreduce,32,1,65536,1000\nallreduce,16,1,65000,500\n"
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "app.csv"), []byte(trace), 0o666))
	mustTutti(t, codeDone, "tune", "-c", filepath.Join(dir, "small.yaml"), "--set", "grid.trace=app.csv", "--set", "hpo.trials=0")
	out := filepath.Join(dir, "out")
	f := reportOf(t, out)
	for _, p := range f.Problems {
		if p.Weights == nil || p.Weights.Points != 2 || p.Weights.LargestAt != "allreduce 32x1 64KiB" {
			t.Errorf("%s: weights %+v, want two points and most at 32 nodes", p.Library, p.Weights)
		}
		for _, c := range p.Cells {
			if c.Nodes >= 16 && c.MsgBytes == 65536 && *c.Slowdown > 1.05 {
				t.Errorf("%s: slowdown %.3f at %d nodes, where all calls are", p.Library, *c.Slowdown, c.Nodes)
			}
		}
	}
	if page := string(readFile(t, filepath.Join(out, export.ReportHTML))); !strings.Contains(page, "points that count") {
		t.Error("the report has no weights")
	}
	// The journal contains the calls of the trace, so the trace file may be deleted.
	testutil.NoError(t, os.Remove(filepath.Join(dir, "app.csv")))
	before := readFile(t, filepath.Join(out, export.ReportJSON))
	mustTutti(t, codeDone, "report", out)
	if !bytes.Equal(before, readFile(t, filepath.Join(out, export.ReportJSON))) {
		t.Error("without the trace the report is another one")
	}
}

// TestWarningsOnce checks that the summary of a campaign names the warnings that were printed before, but does not repeat
// them.
func TestWarningsOnce(t *testing.T) {
	var stdout, stderr bytes.Buffer
	a := &app{stdout: &stdout, stderr: &stderr}
	a.warn([]string{"the site pins an algorithm"})
	facts := report.Facts{Warnings: []string{"the site pins an algorithm", "two programs were measured"}}
	printSummary(a, facts, "out")
	got := stderr.String() + stdout.String()
	if strings.Count(got, "pins an algorithm") != 1 || strings.Count(got, "two programs") != 1 || !strings.Contains(got, "1 warning at the start, and in report.html\n") {
		t.Errorf("printed\n%s", got)
	}
}
