package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/internal/test/campaigntest"
)

// TestEvaluateKeep goes on from a file of outcomes; one that is broken is refused.
func TestEvaluateKeep(t *testing.T) {
	dir := t.TempDir()
	keep := filepath.Join(dir, "o.jsonl")
	args := []string{"evaluate", "--data", filepath.Join(campaigntest.Recorded(t), "C_alltoall.csv"), "--versus", "random", "--strategy", "random,uncertainty", "--seeds", "1", "--keep", keep}
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

// A file that calibrate did not write is left as it is.
func TestCalibrateKeepRefuses(t *testing.T) {
	keep := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(keep, []byte("notes of mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(campaigntest.Recorded(t), "C_alltoall.csv")
	_, stderr := mustTutti(t, codeInput, "evaluate", "calibrate", "--data", data, "--keep", keep)
	if !strings.Contains(stderr, "no file of calibrations") || string(readFile(t, keep)) != "notes of mine" {
		t.Errorf("%s; the file holds %q", stderr, readFile(t, keep))
	}
	mustTutti(t, codeUsage, "evaluate", "calibrate", "--data", data, "--strategy", "fact")
	_, stderr = mustTutti(t, codeUsage, "evaluate", "calibrate", "--data", data, "--borne-level", "1")
	if !strings.Contains(stderr, "borne level 1: want a number between 0 and 1") {
		t.Error(stderr)
	}
}

// Faults of the flags are named before anything is read.
func TestModelsRefuses(t *testing.T) {
	for flags, want := range map[string]string{
		"":                                       "--data FILE is missing",
		"--data none.csv --sizes 60,30":          "sizes [60 30]",
		"--data none.csv --strategy fact":        "--strategy fact",
		"--data none.csv --lengths 0":            "lengths 0: want a number above 0",
		"--data none.csv --steps 2 --lengths -1": "lengths -1",
		"--data none.csv --split 2":              "split 2: want a number from 0 to 1",
		"--data none.csv --output xml":           "xml",
	} {
		_, stderr := mustTutti(t, codeUsage, append([]string{"evaluate", "models"}, strings.Fields(flags)...)...)
		if !strings.Contains(stderr, want) {
			t.Errorf("%s: %s, want %q", flags, stderr, want)
		}
	}
	mustTutti(t, codeInput, "evaluate", "models", "--data", "none.csv")
}
