package csource_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"tutti/csource"
	"tutti/internal/testutil"
)

// requireChecked fails the test unless the program check counted at least the given number of cases, all
// of them right.
func requireChecked(t *testing.T, said string, least int) {
	t.Helper()
	var cases, wrong int
	at := strings.Index(said, " cases, ")
	if _, err := fmt.Sscanf(said[strings.LastIndexByte(said[:max(at, 0)], '\n')+1:], "%d cases, %d wrong", &cases, &wrong); err != nil || wrong > 0 || cases < least {
		t.Errorf("%d wrong of %d cases, want %d at least; %v\n%s", wrong, cases, least, err, said)
	}
}

// Every algorithm computes the result that MPI requires, in every form of a call, on communicators
// of one to five ranks. The environment variable CHECK adds counts.
func TestLiveRepository(t *testing.T) {
	counts := append([]string{"1", "+"}[:cases(2)], strings.Fields(os.Getenv("CHECK"))...)
	for _, m := range someMPIs() {
		t.Run(m.Compiler, func(t *testing.T) {
			testutil.BuildProgram(t, m.Toolchain, csource.Pair) // skips where the library is missing
			program := buildInside(t, m, "check.c")
			env := append(m.env, "ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0") // because a library is preloaded
			if m.fortran == "mpif90.mpich" {
				env = append(env, "LD_PRELOAD="+testutil.BuildProgram(t, m.Toolchain, testutil.YieldLibrary))
			}
			requireChecked(t, testutil.RunProgram(t, env, m.Launcher, append([]string{"-n", "5", program, "split"}, counts...)...), 750*len(counts))
		})
	}
}
