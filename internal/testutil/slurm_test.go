package testutil_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"tutti/internal/testutil"
)

func TestSlurmNodeFailure(t *testing.T) {
	for _, mode := range []string{"uts", "utslite"} {
		t.Run(mode, func(t *testing.T) {
			c := testutil.StartSlurm(t, testutil.SlurmOptions{Nodes: 3, Mode: mode, Conf: "MinJobAge=7"})
			if got := c.Shell("srun -N3 hostname | sort | paste -sd,"); got != "n1,n2,n3" {
				t.Errorf("hosts of a step over 3 nodes: %q", got)
			}
			if got := c.Shell("scontrol show config | grep MinJobAge"); !strings.Contains(got, "= 7 sec") {
				t.Errorf("configuration added: %q", got)
			}
			id := c.Run("sbatch", "--parsable", "-N2", "--no-requeue", "-o/dev/null", "--wrap", "srun sleep 100")
			c.WaitState(id, "RUNNING")
			c.SetNodeDown("n2")
			c.WaitState(id, "NODE_FAIL")
		})
	}
}

func TestSlurmController(t *testing.T) {
	c := testutil.StartSlurm(t, testutil.SlurmOptions{Conf: "MessageTimeout=2"})
	if id := c.Run("sbatch", "--parsable", "-o/dev/null", "--wrap", "true"); id != "1" {
		t.Errorf("first id: %q", id)
	}
	c.Freeze()
	cmd := exec.Command("squeue")
	cmd.Env = c.Env()
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "Socket timed out") {
		t.Errorf("squeue of a frozen controller: %v, %q", err, out)
	}
	c.Thaw()
	c.StopController()
	cmd = exec.Command("scontrol", "ping")
	cmd.Env = c.Env()
	if err := cmd.Run(); err == nil {
		t.Error("a stopped controller answers a ping")
	}
	c.StartController()
	if got := c.Run("squeue", "-h", "-tall", "-o%i"); got != "1" {
		t.Errorf("jobs after a restart: %q", got)
	}
	c.StopController()
	c.StartEmptyController()
	if id := c.Run("sbatch", "--parsable", "-o/dev/null", "--wrap", "true"); id != "1" {
		t.Errorf("first id of a new controller: %q", id)
	}
}

func TestSlurmNodes(t *testing.T) {
	c := testutil.StartSlurm(t, testutil.SlurmOptions{Nodes: 2})
	c.Drain("n1")
	if got := c.Run("srun", "-N1", "hostname"); got != "n2" {
		t.Errorf("with n1 drained, a step ran on %q", got)
	}
	c.Resume("n1")
	count := "pgrep -fc '[s]lurmd .*" + c.Dir + ".* -N n2' || true"
	if got := c.Shell(count); got != "1" {
		t.Errorf("%s slurmd of n2, want 1", got)
	}
	c.Shell("until sinfo -h -n n2 -o %t | grep -qx idle; do sleep 0.1; done") // the job above is over there, too
	c.StopNode("n2")
	if got := c.Shell(count); got != "0" {
		t.Errorf("%s slurmd of a node without power", got)
	}
	c.StartNode("n2")
	if got := c.Shell("srun -N2 hostname | sort | paste -sd,"); got != "n1,n2" {
		t.Errorf("hosts after a node came back: %q", got)
	}
	if _, err := os.Stat(c.Shim()); err != nil {
		t.Error(err)
	}
}

// TestLeftoverCluster checks that a test stops the cluster that an earlier, killed test left running.
func TestLeftoverCluster(t *testing.T) {
	if os.Getenv("SLURMTEST_ABANDON") == "1" {
		c := testutil.StartSlurm(t, testutil.SlurmOptions{})
		c.Run("sbatch", "-o/dev/null", "--wrap", "sleep 100")
		testutil.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGKILL))
	}
	if testing.Short() {
		t.Skip("starts a Slurm")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestLeftoverCluster$", "-test.v")
	cmd.Env = append(os.Environ(), "SLURMTEST_ABANDON=1")
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "SKIP") {
		testutil.NeedSlurm.Missing(t, "no Slurm here:\n%s", out)
	}
	if err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the test that kills itself: %v\n%s", err, out)
	}
	c := testutil.StartSlurm(t, testutil.SlurmOptions{})
	if got := c.Run("squeue", "-h", "-tall", "-o%i"); got != "" {
		t.Errorf("jobs of a fresh cluster: %q", got)
	}
}
