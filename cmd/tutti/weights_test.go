package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/campaign/export"
	"tutti/internal/testutil/campaigntest"
)

// TestTrace tunes for an application that calls allreduce with one size only: where
// is measured and how it is judged follow it, and the report says so.
func TestTrace(t *testing.T) {
	dir := t.TempDir()
	campaigntest.Small(t, dir)
	trace := "collective,processes,ppn,msg_bytes,calls\nallreduce,32,1,65536,1000\nallreduce,16,1,65000,500\n"
	if err := os.WriteFile(filepath.Join(dir, "app.csv"), []byte(trace), 0o666); err != nil {
		t.Fatal(err)
	}
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
		t.Error("the report does not tell of weights")
	}
	// The journal keeps the calls: the trace is not needed again.
	if err := os.Remove(filepath.Join(dir, "app.csv")); err != nil {
		t.Fatal(err)
	}
	before := readFile(t, filepath.Join(out, export.ReportJSON))
	mustTutti(t, codeDone, "report", out)
	if !bytes.Equal(before, readFile(t, filepath.Join(out, export.ReportJSON))) {
		t.Error("without the trace the report is another one")
	}
}
