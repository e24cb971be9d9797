// Package need skips tests that cannot run on this machine, and tests that belong to
// make test-all alone. Only tests import it.
//
//	if _, err := exec.LookPath("tclsh"); err != nil {
//		need.Modules.Missing(t, "%v: needs apt-get install tcl", err)
//	}
package need

import (
	"os"
	"testing"
)

// All reports whether every test case is wanted, as in make test-all: the variable
// TUTTI_TEST_ALL is 1. Otherwise a test runs few of its cases.
func All() bool { return os.Getenv("TUTTI_TEST_ALL") == "1" }

// AllCases skips a test that belongs to make test-all alone, unless every case is wanted.
func AllCases(t testing.TB) {
	t.Helper()
	if !All() {
		t.Skip("belongs to make test-all: TUTTI_TEST_ALL is not 1")
	}
}

// Need is the name of an environment variable that demands something of the machine.
type Need string

const (
	Browser Need = "REQUIRE_BROWSER" // Chromium and Node.js
	Disk    Need = "REQUIRE_DISK"    // the right to mount a small file system
	Modules Need = "REQUIRE_MODULES" // Tcl and Environment Modules
	MPI     Need = "REQUIRE_MPI"     // MPICH and Open MPI with their compilers
	SimGrid Need = "REQUIRE_SIMGRID" // SimGrid with its compiler wrapper, and a C++ compiler
	Slurm   Need = "REQUIRE_SLURM"   // Slurm's daemons, and root to run nodes
)

// Missing skips the test for the given reason, or fails it if the variable is 1.
func (n Need) Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv(string(n)) == "1" {
		t.Fatalf(format, args...)
	} else {
		t.Skipf(format, args...)
	}
}
