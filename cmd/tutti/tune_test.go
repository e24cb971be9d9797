package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tutti/campaign/export"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
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

// TestRecordedWarning checks that the terminal and the report warn of an invalid row of recorded
// data.
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

// TestOnePoint checks that a campaign on a single recorded measurement converges.
func TestOnePoint(t *testing.T) {
	header, _, _ := strings.Cut(string(recordedRows(t)), "\n")
	stdout := tuneOn(t, t.TempDir(), header+"\nallreduce,rdb,4,1,16,127.8,127.8,127.8,0.16\n")
	if strings.Count(stdout, "converged     100 % ") != 2 {
		t.Errorf("not converged:\n%s", stdout)
	}
}

// recordedRows returns the recorded data of the small campaign.
func recordedRows(t *testing.T) []byte {
	t.Helper()
	return readFile(t, filepath.Join(campaigntest.Recorded(t), "C_allreduce.csv"))
}

// tuneOn runs the small campaign in a folder, with text as its recorded data.
func tuneOn(t *testing.T, dir, text string) (stdout string) {
	t.Helper()
	file := campaigntest.Small(t, dir)
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "in.csv"), []byte(text), 0o666))
	stdout, _ = mustTutti(t, codeDone, "tune", "-c", file, "--set", "runner.data=in.csv")
	return stdout
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	content := testutil.Must(os.ReadFile(path))(t)
	return content
}

// TestTrace tunes for the trace of an application that calls allreduce with one size. The weights from the
// trace determine where tutti measures, and the report shows these weights.
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

// TestExportIntoTwoLines exports into a folder whose name contains a line break. Settings cannot contain
// such a name, so the exit code is that of a usage error.
func TestExportIntoTwoLines(t *testing.T) {
	_, stderr := mustTutti(t, codeUsage, "export", reference(t), "--for", "openmpi", "--out", filepath.Join(t.TempDir(), "two\nlines"))
	if !strings.Contains(stderr, "control characters") {
		t.Errorf("stderr %q", stderr)
	}
}
