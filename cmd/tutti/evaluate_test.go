package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEvaluateKeep goes on from a file of outcomes; one that is broken is refused.
func TestEvaluateKeep(t *testing.T) {
	dir := t.TempDir()
	keep := filepath.Join(dir, "o.jsonl")
	args := []string{"evaluate", "--data", filepath.Join(recordedData(t), "C_alltoall.csv"), "--versus", "random", "--strategy", "random,uncertainty", "--seeds", "1", "--keep", keep}
	first, told := mustTutti(t, codeDone, args...)
	again, quiet := mustTutti(t, codeDone, args...)
	if first != again || !strings.Contains(told, "seed 1") || quiet != "" {
		t.Errorf("the second time differs: %s%s%s%s", first, told, again, quiet)
	}
	content := readFile(t, keep)
	if err := os.WriteFile(keep, append(content, "broken\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr := mustTutti(t, codeInput, args...); !strings.Contains(stderr, "o.jsonl: line 4: ") {
		t.Errorf("a broken file: %s", stderr)
	}
	args[len(args)-1] = filepath.Join(dir, "none", "o.jsonl")
	mustTutti(t, codeOutput, args...)
}
