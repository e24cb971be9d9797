package csource_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/internal/testutil"
)

// buildTool compiles the profiling tool of testdata as a shared library.
func buildTool(t *testing.T, m mpiOf, flags ...string) string {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "tool.so")
	args := append(flags, "-O1", "-fPIC", "-shared", "-o", tool, "testdata/tool.c")
	if said, err := exec.Command(m.Compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return tool
}

// TestLiveTools checks libtutti with a profiling tool that is loaded before or after it, and in a program of
// another MPI library.
func TestLiveTools(t *testing.T) {
	all := mpis()
	for i, m := range all {
		t.Run(m.Compiler, func(t *testing.T) {
			library := runtimeLibrary(t, m)
			program := testutil.BuildProgram(t, m.Toolchain, testutil.CallsProgram)
			whole, hides := buildTool(t, m), buildTool(t, m, "-DHIDE")
			for _, tc := range []struct {
				name, preloaded, want string
				bcasts                bool // whether broadcasts are traced
			}{
				{"behind", library + ":" + hides, "tool: 8\n", true},
				{"before", whole + ":" + library, "tool: 0\n", true},
				{"hides", hides + ":" + library, hides + " hides bcast from libtutti", false},
				{"other MPI", runtimeLibrary(t, all[1-i]), "the program runs without libtutti", false},
			} {
				trace := filepath.Join(t.TempDir(), "trace.csv")
				said := testutil.RunProgram(t, []string{"LD_PRELOAD=" + tc.preloaded, "TUTTI_TRACE=" + trace}, m.Launcher, "-n", "4", program)
				text, _ := os.ReadFile(trace) // is missing with another MPI
				if strings.Count(said, tc.want) != 1 || strings.Contains(string(text), "bcast,1,4,400,") != tc.bcasts {
					t.Errorf("%s: want one %q, broadcasts traced %t:\n%s%s", tc.name, tc.want, tc.bcasts, said, text)
				}
			}
		})
	}
}

// TestLiveWaiting checks an application in which one rank does not load libtutti. Another rank must report
// this.
func TestLiveWaiting(t *testing.T) {
	testutil.NeedAllCases(t)
	m := mpis()[0]
	library := buildChanged(t, m, "state.c", "PATIENCE = 10", "PATIENCE = 1")
	program := testutil.BuildProgram(t, m.Toolchain, testutil.CallsProgram)
	with, without := []string{"-n", "1", "env", "LD_PRELOAD=" + library, program}, []string{"-n", "1", program}
	for _, args := range [][]string{slices.Concat(with, []string{":"}, without), slices.Concat(without, []string{":"}, with)} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		cmd := exec.CommandContext(ctx, m.Launcher, args...)
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = 5 * time.Second
		if said, err := cmd.CombinedOutput(); err == nil || strings.Count(string(said), "MPI_Init has waited 1 s") != 1 {
			t.Errorf("%v: %v, want one line about waiting:\n%s", args, err, said)
		}
		cancel()
	}
}
