package testutil

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
)

// SlurmOptions describe the cluster that a test needs.
type SlurmOptions struct {
	Nodes    int    // called n1, n2, ..., each with 4 CPUs
	Conf     string // lines added to slurm.conf; they override the script's
	Topology string // contents of topology.conf; no such file when empty
}

// SlurmCluster is a running Slurm cluster. If one of its methods fails, the test fails.
type SlurmCluster struct {
	Conf string // path of slurm.conf, the value of SLURM_CONF
	Dir  string // of the cluster; removed when the test ends

	t      testing.TB
	script string
}

// Env returns the environment of this process with SLURM_CONF set and without the other
// variables that Slurm reads.
func (c *SlurmCluster) Env() []string {
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

// Run runs a command with the environment of the cluster. It returns the command's standard output without
// surrounding blanks.
func (c *SlurmCluster) Run(name string, args ...string) string {
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

// Shell runs a script with bash. It returns the script's standard output without surrounding blanks.
func (c *SlurmCluster) Shell(script string) string {
	c.t.Helper()
	return c.Run("bash", "-c", script)
}

// WaitState waits until squeue reports the given state, such as RUNNING, for a job.
func (c *SlurmCluster) WaitState(id, state string) {
	c.t.Helper()
	got := ""
	for begin := time.Now(); time.Since(begin) < HangTimeout; time.Sleep(50 * time.Millisecond) {
		if got = c.Run("squeue", "-h", "-tall", "-j", id, "-o%T"); got == state {
			return
		}
	}
	c.t.Fatalf("job %s is %s, not %s, after %v", id, got, state, HangTimeout)
}

// Freeze suspends the process of Slurm's controller. The controller then accepts connections but does not
// answer. After Thaw it handles the requests that arrived since Freeze.
func (c *SlurmCluster) Freeze() { c.t.Helper(); c.signal(syscall.SIGSTOP) }

// Thaw ends Freeze.
func (c *SlurmCluster) Thaw() { c.t.Helper(); c.signal(syscall.SIGCONT) }

func (c *SlurmCluster) signal(s syscall.Signal) {
	c.t.Helper()
	text := Must(os.ReadFile(filepath.Join(c.Dir, "run", "slurmctld.pid")))(c.t)
	pid := Must(strconv.Atoi(strings.TrimSpace(string(text))))(c.t)
	if err := syscall.Kill(pid, s); err != nil {
		c.t.Fatalf("slurmctld: %v", err)
	}
}

// StopController shuts Slurm's controller down. Running jobs continue.
func (c *SlurmCluster) StopController() { c.t.Helper(); c.operate("stop-controller") }

// StartController starts the controller again. It still has the jobs from before the stop.
func (c *SlurmCluster) StartController() { c.t.Helper(); c.operate("start-controller") }

// StartEmptyController starts a stopped controller without the jobs from before the stop. The next job has
// ID 1.
func (c *SlurmCluster) StartEmptyController() { c.t.Helper(); c.operate("start-controller", "new") }

// StopNode simulates a power failure of a node: it kills all processes of the node.
func (c *SlurmCluster) StopNode(node string) { c.t.Helper(); c.operate("stop-node", node) }

// StartNode ends the power failure of a node; see StopNode.
func (c *SlurmCluster) StartNode(node string) { c.t.Helper(); c.operate("start-node", node) }

// SetNodeDown marks a node as down. Jobs on the node end with NODE_FAIL. The node registers again without
// further action.
func (c *SlurmCluster) SetNodeDown(node string) { c.t.Helper(); c.update(node, "down") }

// Drain ensures that no new job starts on a node until Resume.
func (c *SlurmCluster) Drain(node string) { c.t.Helper(); c.update(node, "drain") }

// Resume ends Drain.
func (c *SlurmCluster) Resume(node string) { c.t.Helper(); c.update(node, "resume") }

func (c *SlurmCluster) update(node, state string) {
	c.t.Helper()
	c.Run("scontrol", "update", "nodename="+node, "state="+state, "reason=test")
}

func (c *SlurmCluster) operate(args ...string) {
	c.t.Helper()
	if out, err := c.command(args...).CombinedOutput(); err != nil {
		c.t.Fatalf("%s %s: %v\n%s", c.script, strings.Join(args, " "), err, out)
	}
}

func (c *SlurmCluster) command(args ...string) *exec.Cmd {
	cmd := exec.Command(c.script, args...)
	cmd.Env = append(c.Env(), "CLUSTER_DIR="+c.Dir)
	return cmd
}

// Shim returns the path of the compiled YieldLibrary, which makes idle ranks yield the processor. It is preloaded
// into programs of Debian's MPICH that communicate over TCP between nodes.
func (c *SlurmCluster) Shim() string {
	c.t.Helper()
	lib := filepath.Join(c.Dir, YieldLibrary.Name)
	if _, err := os.Stat(lib); err == nil {
		return lib
	}
	if _, err := csource.Build(c.t.Context(), YieldLibrary, "gcc", lib); err != nil {
		NeedSlurm.Missing(c.t, "%v: needs apt-get install gcc libc6-dev", err)
	}
	return lib
}
