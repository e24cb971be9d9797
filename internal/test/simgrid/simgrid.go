// Package simgrid builds the project's programs for machines that SimGrid simulates.
package simgrid

import (
	"os/exec"
	"path/filepath"
	"testing"

	"tutti/internal/test/need"
)

// Build runs scripts/simulate-build.sh of the project at root and returns the folder of what it
// made: everything, or the only program that is named. Tests that are to be short are skipped.
func Build(t *testing.T, root string, only ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and simulates")
	}
	for _, tool := range []string{"smpicc", "smpirun", "g++"} {
		if _, err := exec.LookPath(tool); err != nil {
			need.SimGrid.Missing(t, "%v: needs apt-get install libsimgrid-dev g++", err)
		}
	}
	dir := t.TempDir()
	args := append([]string{filepath.Join(root, "scripts", "simulate-build.sh"), dir}, only...)
	if said, err := exec.Command("sh", args...).CombinedOutput(); err != nil {
		t.Fatalf("scripts/simulate-build.sh: %v\n%s", err, said)
	}
	return dir
}
