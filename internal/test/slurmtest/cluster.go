package slurmtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tutti/csource"
	"tutti/csource/test"
	"tutti/internal/test/need"
	"tutti/internal/test/patience"
)

// Options say what cluster a test needs.
type Options struct {
	Nodes int    // called n1, n2, ...; 2 when zero
	CPUs  int    // of each node, whatever the machine has; 4 when zero
	Mode  string // uts (the default) or utslite, as scripts/slurm-test-cluster has them
	Conf  string // lines added to slurm.conf; they win over the script's

	Topology string // contents of topology.conf, switches and their nodes; none when empty
}

// Cluster is a running Slurm. Its methods end the test when they fail.
type Cluster struct {
	Conf string // path of slurm.conf, the value of SLURM_CONF
	Dir  string // of the cluster; goes away with it

	t      testing.TB
	script string
}

// Env returns the environment of this process with SLURM_CONF and without other
// variables that Slurm reads.
func (c *Cluster) Env() []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		prefix, _, _ := strings.Cut(name, "_")
		switch prefix {
		case "SLURM", "SBATCH", "SALLOC", "SRUN", "SQUEUE", "SINFO", "SACCT", "SCANCEL", "SCONTROL", "CLUSTER":
		default:
			env = append(env, v)
		}
	}
	return append(env, "SLURM_CONF="+c.Conf)
}

// Run runs a command with the environment of the cluster and returns its standard
// output without the white space around it.
func (c *Cluster) Run(name string, args ...string) string {
	c.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = c.Env()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		c.t.Fatalf("%s: %v\n%s%s", strings.Join(cmd.Args, " "), err, out, stderr.Bytes())
	}
	return strings.TrimSpace(string(out))
}

// Shell runs bash with the script and returns what Run returns.
func (c *Cluster) Shell(script string) string {
	c.t.Helper()
	return c.Run("bash", "-c", script)
}

// WaitState waits until squeue gives the state, as RUNNING or COMPLETED, for the job.
func (c *Cluster) WaitState(id, state string) {
	c.t.Helper()
	got := ""
	for begin := time.Now(); time.Since(begin) < patience.Long; time.Sleep(50 * time.Millisecond) {
		if got = c.Run("squeue", "-h", "-tall", "-j", id, "-o%T"); got == state {
			return
		}
	}
	c.t.Fatalf("job %s is %s, not %s, after %v", id, got, state, patience.Long)
}

// Freeze stops the controller in its tracks: it accepts connections and does not
// answer until Thaw, and what it was asked meanwhile it does then.
func (c *Cluster) Freeze() { c.t.Helper(); c.signal(syscall.SIGSTOP) }

// Thaw ends Freeze.
func (c *Cluster) Thaw() { c.t.Helper(); c.signal(syscall.SIGCONT) }

func (c *Cluster) signal(s syscall.Signal) {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.Dir, "run", "slurmctld.pid"))
	if err != nil {
		c.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		c.t.Fatal(err)
	}
	if err := syscall.Kill(pid, s); err != nil {
		c.t.Fatalf("slurmctld: %v", err)
	}
}

// StopController shuts the controller down; running jobs go on.
func (c *Cluster) StopController() { c.t.Helper(); c.operate("stop-controller") }

// StartController starts it again with the jobs it knew.
func (c *Cluster) StartController() { c.t.Helper(); c.operate("start-controller") }

// StartControllerAnew starts a stopped controller that has forgotten all jobs; their
// ids begin at 1 again.
func (c *Cluster) StartControllerAnew() { c.t.Helper(); c.operate("start-controller", "new") }

// StopNode cuts the power of a node: all its processes die and nobody is told.
func (c *Cluster) StopNode(node string) { c.t.Helper(); c.operate("stop-node", node) }

// StartNode ends StopNode.
func (c *Cluster) StartNode(node string) { c.t.Helper(); c.operate("start-node", node) }

// SetNodeDown makes the controller take a node for dead: its jobs end as NODE_FAIL.
// The node comes back by itself.
func (c *Cluster) SetNodeDown(node string) { c.t.Helper(); c.update(node, "down") }

// Drain lets no new job onto a node until Resume.
func (c *Cluster) Drain(node string) { c.t.Helper(); c.update(node, "drain") }

// Resume ends Drain.
func (c *Cluster) Resume(node string) { c.t.Helper(); c.update(node, "resume") }

func (c *Cluster) update(node, state string) {
	c.t.Helper()
	c.Run("scontrol", "update", "nodename="+node, "state="+state, "reason=test")
}

func (c *Cluster) operate(args ...string) {
	c.t.Helper()
	if out, err := c.command(args...).CombinedOutput(); err != nil {
		c.t.Fatalf("%s %s: %v\n%s", c.script, strings.Join(args, " "), err, out)
	}
}

func (c *Cluster) command(args ...string) *exec.Cmd {
	cmd := exec.Command(c.script, args...)
	cmd.Env = append(c.Env(), "CLUSTER_DIR="+c.Dir)
	return cmd
}

// Shim returns the path of a library to be preloaded into programs of Debian's MPICH
// where they talk TCP between nodes; see test.Yield.
func (c *Cluster) Shim() string {
	c.t.Helper()
	lib := filepath.Join(c.Dir, test.Yield.Name)
	if _, err := os.Stat(lib); err == nil {
		return lib
	}
	if _, err := csource.Build(c.t.Context(), test.Yield, "gcc", lib); err != nil {
		need.Slurm.Missing(c.t, "%v: needs apt-get install gcc libc6-dev", err)
	}
	return lib
}
