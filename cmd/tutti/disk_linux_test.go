package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
)

// TestFullDisk checks a campaign whose disk becomes full while it measures or writes results. After
// space was freed, resume must write the same files as an undisturbed campaign.
func TestFullDisk(t *testing.T) {
	disk := testutil.MountSmallDisk(t, "48k")
	if disk == "" {
		return
	}
	want := reference(t) // its journal is larger than 48 KiB
	dir := t.TempDir()
	campaigntest.Small(t, dir)
	out := filepath.Join(disk, "out")
	_, stderr := mustTutti(t, codeOutput, "tune", "-c", filepath.Join(dir, "small.yaml"), "--out", out)
	for _, part := range []string{"append to " + out, "no space left on device", "The measurements are kept. Resume with: tutti resume " + out} {
		if !strings.Contains(stderr, part) {
			t.Errorf("stderr lacks %q: %s", part, stderr)
		}
	}
	mustTutti(t, codeDone, "status", out)
	if n := journalLines(t, out); n < 70 {
		t.Errorf("the journal has %d lines, want more of 48 KiB", n)
	}
	begun := filepath.Join(disk, "begun.yaml")
	mustTutti(t, codeOutput, "init", begun, "--runner", "replay")
	if _, err := os.Lstat(begun); err == nil {
		t.Error("init has left a part of a campaign file")
	}
	measured := 0 // number of runs that failed while writing results
	for size := 64; ; size += cases(96, 32) {
		testutil.NoError(t, syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%dk", size)))
		code, stdout, stderr := tutti("resume", out)
		if code == codeDone {
			break
		}
		if code != codeOutput || !strings.Contains(stderr, "no space left on device") || size > 4<<10 {
			t.Fatalf("with %d KiB: exit code %d, want %d\n%s%s", size, code, codeOutput, stdout, stderr)
		}
		if !strings.Contains(stderr, "append to") && !strings.Contains(stderr, "lock") {
			measured++
		}
	}
	if measured == 0 {
		t.Error("the disk was never full while results were written")
	}
	compareFinal(t, want, out)
	if left, _ := filepath.Glob(filepath.Join(out, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	disk := testutil.MountSmallDisk(t, "16m")
	if disk == "" {
		return
	}
	dir := t.TempDir()
	campaigntest.Small(t, dir)
	file, out := filepath.Join(dir, "small.yaml"), filepath.Join(disk, "out")
	mustTutti(t, codeDone, "tune", "-c", file, "--out", out)
	testutil.NoError(t, syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	for _, args := range [][]string{
		{"tune", "-c", file, "--out", filepath.Join(disk, "other")},
		{"resume", out}, {"resume", out, "--hpo", "100"}, {"export", out}, {"init", filepath.Join(disk, "x.yaml"), "--runner", "local"},
		{"export", out, "--out", filepath.Join(disk, "new"), "--only", "measurements"},
	} {
		if _, stderr := mustTutti(t, codeOutput, args...); strings.Count(stderr, "read-only") != 1 {
			t.Errorf("tutti %q: %s", args, stderr)
		}
	}
	mustTutti(t, codeDone, "status", out)
	mustTutti(t, codeDone, "report", out) // the results are stored
	mustTutti(t, codeDone, "export", out, "--out", filepath.Join(dir, "elsewhere"))
}
