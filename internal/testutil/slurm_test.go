package testutil_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"tutti/internal/testutil"
)

// TestLeftoverCluster checks that a test stops the cluster that an earlier, killed test left running.
func TestLeftoverCluster(t *testing.T) {
	if os.Getenv("SLURMTEST_ABANDON") == "1" {
		c := testutil.StartSlurm(t, testutil.SlurmOptions{Nodes: 1})
		c.Run("sbatch", "-o/dev/null", "--wrap", "sleep 100")
		testutil.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGKILL))
	}
	testutil.SkipShort(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestLeftoverCluster$", "-test.v")
	cmd.Env = append(os.Environ(), "SLURMTEST_ABANDON=1")
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "SKIP") {
		testutil.NeedSlurm.Missing(t, "no Slurm here: needs root and apt-get install slurmctld slurmd slurm-client munge:\n%s", out)
	}
	if err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the test that kills itself: %v\n%s", err, out)
	}
	c := testutil.StartSlurm(t, testutil.SlurmOptions{Nodes: 1})
	if got := c.Run("squeue", "-h", "-tall", "-o%i"); got != "" {
		t.Errorf("jobs of a fresh cluster: %q", got)
	}
}
