package slurmtest

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

	"tutti/internal/test/need"
)

// The places of clusters and their locks are the same for every process of the machine:
// that keeps two from being up in one, and lets the next test clear away what a killed one
// left. Tests with a cluster wait most of their time, so some may be up at once.
const (
	place     = "/tmp/tutti-slurmtest-" // and a number
	clusters  = 3
	firstPort = 17000
	ports     = 300 // of a place
)

// Start brings a cluster up that is gone when the test ends. The test is skipped
// when Slurm is not installed or cannot be run here, and under go test -short.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a Slurm")
	}
	if reason := missing(); reason != "" {
		need.Slurm.Missing(t, "%s", reason)
	}
	if o.Nodes == 0 {
		o.Nodes = 2
	}
	if o.CPUs == 0 {
		o.CPUs = 4
	}
	n := lock(t)
	dir := place + strconv.Itoa(n)
	c := &Cluster{t: t, Dir: dir, Conf: filepath.Join(dir, "etc", "slurm.conf"), script: script(t)}
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
	port, err := freePorts(firstPort+n*ports, o.Nodes+1)
	if err != nil {
		t.Fatal(err)
	}
	cmd := c.command("up")
	cmd.Env = append(cmd.Env, "CLUSTER_NODES="+strconv.Itoa(o.Nodes), "CLUSTER_CPUS="+strconv.Itoa(o.CPUs),
		"CLUSTER_MODE="+o.Mode, "CLUSTER_PORT="+strconv.Itoa(port), "CLUSTER_CONF="+o.Conf, "CLUSTER_TOPOLOGY="+o.Topology)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s up: %v\n%s", c.script, err, out)
	}
	return c
}

// missing says in one line what keeps a cluster from coming up here.
func missing() string {
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

// script finds scripts/slurm-test-cluster above the folder of the test.
func script(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, "scripts", "slurm-test-cluster")
		if _, err := os.Stat(path); err == nil {
			return path
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("scripts/slurm-test-cluster not found above the folder of the test")
		}
	}
}

// lock waits until a place is free and returns its number. The system gives the lock back
// when the process ends, however it does.
func lock(t testing.TB) int {
	t.Helper()
	for told := false; ; told = true {
		for n := range clusters {
			f, err := os.OpenFile(fmt.Sprint(place, n, ".lock"), os.O_CREATE|os.O_RDWR, 0o666)
			if err != nil {
				t.Fatal(err)
			}
			if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
				t.Cleanup(func() { f.Close() })
				return n
			}
			f.Close()
			if !errors.Is(err, syscall.EWOULDBLOCK) {
				t.Fatalf("%s: %v", f.Name(), err)
			}
		}
		if !told {
			t.Logf("other tests have %d clusters of Slurm on this machine; waiting for one to end", clusters)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// freePorts returns the first of n ports in a row on which nobody listens.
func freePorts(first, n int) (int, error) {
	for base := first; base+n <= first+ports; base += n {
		if allFree(base, n) {
			return base, nil
		}
	}
	return 0, fmt.Errorf("no %d free ports in a row between %d and %d", n, first, first+ports-1)
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

func (c *Cluster) logTail() string {
	text, err := os.ReadFile(filepath.Join(c.Dir, "log", "slurmctld.log"))
	if err != nil {
		return err.Error()
	}
	const most = 4000
	return string(text[max(0, len(text)-most):])
}
