package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
)

func TestWaits(t *testing.T) {
	var told []string
	w := newWaits("Slurm", func(line string) { told = append(told, line) })
	now := time.Unix(1_800_000_000, 0)
	w.now = func() time.Time { return now }
	for _, step := range []struct {
		after time.Duration
		cause string
	}{{0, "a"}, {time.Second, "a"}, {time.Second, "b"}, {4 * time.Second, "b"}, {50 * time.Second, "b"}, {10 * time.Second, "b"}} {
		now = now.Add(step.after)
		w.notice(errors.New(step.cause))
	}
	if want := []string{"waiting for Slurm: a", "waiting for Slurm: b", "waiting for Slurm: b"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// TestWaitIsTold: a dry run that waits for Slurm says so within seconds.
func TestWaitIsTold(t *testing.T) {
	dir := t.TempDir()
	file := campaigntest.Fake(t, dir, "slurm")
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o777); err != nil {
		t.Fatal(err)
	}
	const away = "#!/bin/sh\necho 'error: Unable to contact slurm controller (connect failure)' >&2\nexit 1\n"
	for _, name := range []string{"sinfo", "scontrol", "sbatch", "squeue"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(away), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"--dry-run"}, nil} {
		cmd, output := process(t, dir, append([]string{"tune", "-c", file, "--set", "slurm.bin=" + bin}, args...)...)
		began := time.Now()
		endWhen(t, cmd, os.Interrupt, func() bool { return strings.Contains(output.String(), "waiting for Slurm: ") })
		if took := time.Since(began); took > testutil.HangTimeout || !strings.Contains(output.String(), "Unable to contact slurm controller") {
			t.Errorf("%q: after %v:\n%s", args, took, output)
		}
	}
}
