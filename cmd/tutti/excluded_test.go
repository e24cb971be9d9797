package main

import (
	"path/filepath"
	"strings"
	"testing"

	"tutti/internal/testutil/campaigntest"
)

// TestExcludedInTheReport looks for the candidates that were given up: each is told
// with its last error, and none of them is counted as measured.
func TestExcludedInTheReport(t *testing.T) {
	dir := t.TempDir()
	campaigntest.Small(t, dir)
	mustTutti(t, codeDone, "tune", "-c", filepath.Join(dir, "small.yaml"), "--set", "strategy.name=uncertainty",
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
		if e.Attempts != 2 || e.Phase != "run" || e.Error != "simulated failure" || e.Algorithm == "" || e.Nodes < 1 {
			t.Errorf("excluded: %+v", e)
		}
	}
}
