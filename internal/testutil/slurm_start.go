package testutil

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// A cluster runs in one of maxClusters numbered folders. A lock file keeps other processes of the machine from
// using the same folder at the same time. A test first removes what a killed test left in its folder. Several
// clusters may run at the same time, since tests with a cluster mostly wait.
const (
	clusterDir      = "/tmp/tutti-slurmtest-" // followed by the number
	maxClusters     = 3
	firstPort       = 17000
	portsPerCluster = 300
)

// StartSlurm starts a cluster, which takes half a second. When the test ends, the cluster is stopped. If
// maxClusters clusters are already running on the machine, StartSlurm waits. The test is skipped under go
// test -short, and where Slurm is not installed or cannot run.
func StartSlurm(t testing.TB, o SlurmOptions) *SlurmCluster {
	t.Helper()
	SkipShort(t)
	if reason := whyNoSlurm(); reason != "" {
		NeedSlurm.Missing(t, "%s", reason)
	}
	n := lockClusterDir(t)
	dir := clusterDir + strconv.Itoa(n)
	c := &SlurmCluster{t: t, Dir: dir, Conf: filepath.Join(dir, "etc", "slurm.conf"), script: filepath.Join(Root(t), "scripts", "slurm-test-cluster")}
	down := func() {
		if out, err := c.command("down").CombinedOutput(); err != nil {
			t.Errorf("%s down: %v\n%s", c.script, err, out)
		}
	}
	down()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("slurmctld: %s", c.logTail())
		}
		down()
	})
	port := Must(freePorts(firstPort+n*portsPerCluster, o.Nodes+1))(t)
	cmd := c.command("up")
	cmd.Env = append(cmd.Env, "CLUSTER_NODES="+strconv.Itoa(o.Nodes), "CLUSTER_PORT="+strconv.Itoa(port),
		"CLUSTER_CONF="+o.Conf, "CLUSTER_TOPOLOGY="+o.Topology)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s up: %v\n%s", c.script, err, out)
	}
	return c
}

// whyNoSlurm returns the reason why this machine cannot run a cluster. It returns "" if the machine can.
func whyNoSlurm() string {
	const install = "needs apt-get install --no-install-recommends slurmctld slurmd slurm-client munge"
	for _, tool := range []string{"slurmctld", "slurmd", "munged"} {
		if _, err := exec.LookPath(tool); err == nil {
			continue
		}
		if _, err := os.Stat(filepath.Join("/usr/sbin", tool)); err != nil {
			return tool + " not found: " + install
		}
	}
	if _, err := exec.LookPath("sbatch"); err != nil {
		return "sbatch not found: " + install
	}
	if os.Getuid() != 0 {
		return "virtual nodes of Slurm: needs root"
	}
	if err := exec.Command("unshare", "--uts", "--mount", "true").Run(); err != nil {
		return fmt.Sprintf("virtual nodes of Slurm: unshare: %v: needs the right to make namespaces", err)
	}
	return ""
}

// lockClusterDir waits for a free folder, locks it and returns its number. The lock ends with this process,
// even if the process is killed.
func lockClusterDir(t testing.TB) int {
	t.Helper()
	for logged := false; ; logged = true {
		for n := range maxClusters {
			f := Must(os.OpenFile(fmt.Sprint(clusterDir, n, ".lock"), os.O_CREATE|os.O_RDWR, 0o666))(t)
			err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
			if err == nil {
				t.Cleanup(func() { f.Close() })
				return n
			}
			f.Close()
			if !errors.Is(err, syscall.EWOULDBLOCK) {
				t.Fatalf("%s: %v", f.Name(), err)
			}
		}
		if !logged {
			t.Logf("other tests run %d Slurm clusters on this machine; waiting for one to end", maxClusters)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// freePorts looks for n consecutive ports on which no process listens. It returns the first of them.
func freePorts(first, n int) (int, error) {
	for base := first; base+n <= first+portsPerCluster; base += n {
		if allFree(base, n) {
			return base, nil
		}
	}
	return 0, fmt.Errorf("no %d consecutive free ports between %d and %d", n, first, first+portsPerCluster-1)
}

func allFree(base, n int) bool {
	for port := base; port < base+n; port++ {
		l, err := net.Listen("tcp4", fmt.Sprintf(":%d", port))
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
}

func (c *SlurmCluster) logTail() string {
	text, err := os.ReadFile(filepath.Join(c.Dir, "log", "slurmctld.log"))
	if err != nil {
		return err.Error()
	}
	const maxBytes = 4000
	return string(text[max(0, len(text)-maxBytes):])
}
