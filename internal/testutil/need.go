package testutil

import (
	"os"
	"testing"
	"time"
)

// HangTimeout is how long a test waits for a step before it concludes that the step hangs. It is far longer
// than any step takes on a busy machine. If the step ends earlier, the test continues at once.
const HangTimeout = 4 * time.Minute

// AllCases reports whether tests should run all their cases, as in make test-all. It returns true if the
// environment variable TEST_ALL is 1. If it returns false, tests run only a few cases.
func AllCases() bool { return os.Getenv("TEST_ALL") == "1" }

// NeedAllCases skips a test except in full test runs (make test-all), where AllCases returns true.
func NeedAllCases(t testing.TB) {
	t.Helper()
	if !AllCases() {
		t.Skip("make test-all or TEST_ALL=1 runs it")
	}
}

// SkipShort skips a test under go test -short. Such tests take long, or start jobs, compilers or daemons.
func SkipShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("go test without -short runs it")
	}
}

// Need names an environment variable. The variable stands for something that a machine may not have, such as a
// library. If a test does not find this thing, it is skipped. If the variable is 1, the test fails instead.
type Need string

const (
	NeedBrowser Need = "REQUIRE_BROWSER" // Chromium and Node.js; nginx for all cases
	NeedDisk    Need = "REQUIRE_DISK"    // the right to mount a small file system
	NeedModules Need = "REQUIRE_MODULES" // Tcl, Environment Modules and csh
	NeedMPI     Need = "REQUIRE_MPI"     // MPICH and Open MPI with their compilers
	NeedSimGrid Need = "REQUIRE_SIMGRID" // SimGrid with its compiler wrapper, and a C++ compiler
	NeedSlurm   Need = "REQUIRE_SLURM"   // Slurm's daemons, and root to run nodes
)

// Missing skips the test for the given reason. If the environment variable n is 1, the test fails instead.
func (n Need) Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv(string(n)) == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
