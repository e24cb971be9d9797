package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tutti/campaign/export"
	"tutti/internal/testutil/campaigntest"
	"tutti/verify"
)

// bcastCampaign tunes bcast on a part of the recorded data and returns the folder. The campaign stops
// early, so some selected algorithms are slower than the default.
func bcastCampaign(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	campaigntest.Small(t, dir)
	args := []string{"tune", "-c", filepath.Join(dir, "small.yaml")}
	for _, set := range []string{
		"collectives=bcast", "runner.data=data/A_bcast.csv", "runner.defaults=data/defaults.csv", "runner.recorded=A",
		"grid.nodes=4,8,16", "grid.ppn=1,2", "model.kind=forest",
		"stop.machine_time=3s",
	} {
		args = append(args, "--set", set)
	}
	mustTutti(t, codeNotConverged, args...)
	return filepath.Join(dir, "out")
}

// provedFiles lists files that a verification changes. The commands report and export must not change them
// afterwards.
var provedFiles = []string{export.SelectionCSV, "openmpi.rules", "openmpi.env", "mpich.json"}

func contentsOf(t *testing.T, dir string, names ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range names {
		out[name] = string(readFile(t, filepath.Join(dir, name)))
	}
	return out
}

// TestVerify checks a selection that is slower than the default at some points. At these points,
// verification selects the default. All files must agree, also after further commands.
func TestVerify(t *testing.T) {
	t.Parallel()
	out := bcastCampaign(t)
	before := contentsOf(t, out, provedFiles...)
	stdout, stderr := mustTutti(t, codeDone, "verify", out, "--library", "openmpi", "--set", "points=10")
	if !strings.Contains(stdout, "openmpi: nothing is slower than the default") || !strings.Contains(stderr, "openmpi: pass 2, first test") {
		t.Fatalf("%s%s", stdout, stderr)
	}
	after := contentsOf(t, out, provedFiles...)
	if before["openmpi.rules"] == after["openmpi.rules"] || before[export.SelectionCSV] == after[export.SelectionCSV] || before["mpich.json"] != after["mpich.json"] {
		t.Error("want other rules for Open MPI and the same file for MPICH")
	}
	f := reportOf(t, out)
	if len(f.Verification) != 1 || len(f.Verification[0].Reverted) == 0 {
		t.Fatalf("the report has %+v", f.Verification)
	}
	for _, p := range f.Verification[0].Reverted {
		for _, c := range f.Problems[1].Cells {
			if c.Nodes == p.Nodes && c.PPN == p.PPN && c.MsgBytes == p.MsgBytes && c.Algorithm != "library_default" {
				t.Errorf("%+v still has %s", p, c.Algorithm)
			}
		}
	}
	// Report and resume restore the same files from the journal.
	page := readFile(t, filepath.Join(out, export.ReportHTML))
	for verb, code := range map[string]exitCode{"report": codeDone, "resume": codeNotConverged} {
		mustTutti(t, code, verb, out)
		for name, want := range after {
			if got := string(readFile(t, filepath.Join(out, name))); got != want {
				t.Errorf("tutti %s changed %s", verb, name)
			}
		}
		if !bytes.Equal(page, readFile(t, filepath.Join(out, export.ReportHTML))) {
			t.Errorf("tutti %s changed the report", verb)
		}
	}
	to := t.TempDir()
	mustTutti(t, codeDone, "export", out, "--only", "selection", "--out", to)
	if got := string(readFile(t, filepath.Join(to, export.SelectionCSV))); got != after[export.SelectionCSV] {
		t.Error("tutti export selects differently")
	}
	// A second verification measures nothing.
	lines := journalLines(t, out)
	again, stderr := mustTutti(t, codeDone, "verify", out, "--library", "openmpi", "--set", "points=10")
	if again != stdout || stderr != "" || journalLines(t, out) != lines {
		t.Errorf("a second time: %s%s", again, stderr)
	}
}

// TestVerifyProgress checks that the remaining time is printed, beginning with the second block.
func TestVerifyProgress(t *testing.T) {
	var out bytes.Buffer
	began := time.Unix(0, 0)
	now := began
	p := &verifyProgress{out: &out, began: began, now: func() time.Time { return now }}
	at := verify.Event{Library: "mpich", Pass: 1, Stage: verify.Screening, Block: 1, MaxBlocks: 4, Points: 10}
	p.observe(at)
	now = began.Add(20 * time.Second)
	at.Block, at.Points = 2, 5
	p.observe(at)
	now = began.Add(30 * time.Second)
	p.observe(verify.Event{Library: "mpich", Pass: 1, Stage: verify.Confirmation, Block: 1, MaxBlocks: 8, Points: 3})
	want := `mpich: pass 1, first test, block 1 of at most 4: 10 points
mpich: pass 1, first test, block 2 of at most 4: 5 points, 20s so far, this test up to 30s more
mpich: pass 1, second test, block 1 of at most 8: 3 points, 30s so far, this test up to 48s more
`
	if got := out.String(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}
