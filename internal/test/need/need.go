// Package need ends a test that lacks something of the machine it runs on. It is
// imported by tests alone.
//
//	if _, err := exec.LookPath("tclsh"); err != nil {
//		need.Modules.Missing(t, "%v: needs apt-get install tcl", err)
//	}
package need

import (
	"os"
	"testing"
)

// Need is what tests take from the machine: the variable that demands it.
type Need string

const (
	Browser Need = "REQUIRE_BROWSER" // Chromium and Node.js
	Disk    Need = "REQUIRE_DISK"    // the right to mount a small file system
	Modules Need = "REQUIRE_MODULES" // Tcl and Environment Modules
	MPI     Need = "REQUIRE_MPI"     // MPICH and Open MPI with their compilers
	SimGrid Need = "REQUIRE_SIMGRID" // SimGrid with its compiler wrapper, and a C++ compiler
	Slurm   Need = "REQUIRE_SLURM"   // Slurm's daemons, and root to run nodes
)

// Missing ends the test and says why: it is skipped, or failed where the variable is 1.
func (n Need) Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv(string(n)) == "1" {
		t.Fatalf(format, args...)
	} else {
		t.Skipf(format, args...)
	}
}
