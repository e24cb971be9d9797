package local

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"tutti/benchrunner"
	"tutti/internal/testutil"
)

// TestProcessUnknown checks that a process counts as unknown, not as ended, if /proc cannot be read. The
// test lowers the limit of open files to prevent reading.
func TestProcessUnknown(t *testing.T) {
	pid := os.Getpid()
	self, _, err := readStat(pid)
	boot, bootErr := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || bootErr != nil {
		t.Fatal(err, bootErr)
	}
	p := process{pid: pid, tick: strconv.FormatUint(self.Starttime, 10), boot: strings.TrimSpace(string(boot))}
	if alive, err := p.alive(); err != nil || !alive {
		t.Fatalf("this process is alive: %t, %v", alive, err)
	}
	var limit syscall.Rlimit
	testutil.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	testutil.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Max: limit.Max}))
	alive, err := p.alive()
	members, membersErr := p.members()
	testutil.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	if !errors.Is(err, syscall.EMFILE) || !errors.Is(err, benchrunner.ErrUnavailable) {
		t.Errorf("alive = %t, %v; want %v", alive, err, syscall.EMFILE)
	}
	if !errors.Is(membersErr, syscall.EMFILE) {
		t.Errorf("members = %v, %v; want %v", members, membersErr, syscall.EMFILE)
	}
}

// FuzzParsers checks that parseID, parseEnd and leastCPUs return an error or a possible value for any text.
func FuzzParsers(f *testing.F) {
	for _, text := range []string{"12-4711-boot", "JobId=1 EndTime=2026-01-31T12:00:00", "EndTime=Unknown", "32(x3),16"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := parseID(text); err == nil && (p.pid < 2 || p.id != text) {
			t.Errorf("parseID(%q) = %+v", text, p)
		}
		if _, err := parseEnd(text); err == nil && !strings.Contains(text, "EndTime=") {
			t.Errorf("parseEnd(%q) found an end", text)
		}
		if n, err := leastCPUs(text); err == nil && n < 1 {
			t.Errorf("leastCPUs(%q) = %d", text, n)
		}
	})
}

// TestWithout checks that jobs do not get variables that belong to another job, and get those that select algorithms,
// as other programs do that a user starts here.
func TestWithout(t *testing.T) {
	environ := []string{"PATH=/bin", "SLURM_JOB_ID=1", "PMIX_RANK=0", "MPIR_CVAR_BCAST_INTRA_ALGORITHM=smp", "OMPI_MCA_coll_tuned_use_dynamic_rules=1", "OMPI_MCA_btl=self", "UCX_TLS=tcp", "PMIX_MCA_gds=hash"}
	if got, want := without(environ, otherJobPrefixes), environ[3:]; !slices.Equal(got, append([]string{"PATH=/bin"}, want...)) {
		t.Errorf("without variables of another job: %q", got)
	}
}
