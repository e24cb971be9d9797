package local

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"al.essio.dev/pkg/shellescape"
	"golang.org/x/sys/unix"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/topology/files"
)

//go:embed run.sh
var runText string

// Options describe this machine. A field that is zero means unknown.
type Options struct {
	Nodes int // of one job, for launchers that simulate several nodes
	PPN   int // ranks on a node
}

// Scheduler runs one job at a time. It is safe for concurrent use.
type Scheduler struct {
	opt        Options
	environ    []string
	host       string
	allocation *allocation // nil outside of an allocation
}

var _ benchrunner.Scheduler = (*Scheduler)(nil)

// New returns a scheduler for this machine. Jobs get the environment of this process without the variables of other
// jobs, which would confuse launchers.
func New(opt Options) (*Scheduler, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("local: %w", err)
	}
	environ := without(os.Environ(), otherJobPrefixes)
	return &Scheduler{opt: opt, host: host, environ: environ}, nil
}

// Prefixes of variables that jobs do not get.
var (
	// variables of a job in which tutti may run
	otherJobPrefixes = slices.Concat(stepPrefixes, []string{"SLURM_", "SLURMD_", "SRUN_", "PBS_", "LSB_"})
	// variables of a launch in which tutti may run, such as srun --pty bash
	stepPrefixes = []string{"PMI_", "PMIX_", "TUTTI_"}
)

// userPrefix is that of the variables with which users set parameters of PMIx. They do not describe a launch.
const userPrefix = "PMIX_MCA_"

func without(environ, prefixes []string) []string {
	var out []string
	for _, v := range environ {
		if strings.HasPrefix(v, userPrefix) || !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(v, p) }) {
			out = append(out, v)
		}
	}
	return out
}

// Name returns "allocation" inside a Slurm allocation, otherwise "local".
func (s *Scheduler) Name() string {
	if s.allocation != nil {
		return "allocation"
	}
	return "local"
}

// Capacity implements benchrunner.Scheduler. It allows one job at a time. In an allocation, jobs must end
// before the allocation does.
func (s *Scheduler) Capacity(ctx context.Context) (benchrunner.Capacity, error) {
	c := benchrunner.Capacity{Nodes: s.opt.Nodes, PPN: s.opt.PPN, Jobs: 1, Attached: true}
	if s.allocation == nil {
		return c, nil
	}
	c.SeparateNodes = true
	var err error
	c.Ends, err = s.allocation.end(ctx)
	return c, err
}

// Switches returns the nodes of each switch in the allocation. It asks Slurm's controller. Outside of an
// allocation, and in one with a file of nodes, it returns nil.
func (s *Scheduler) Switches(ctx context.Context) ([][]string, error) {
	if s.allocation == nil || s.allocation.nodes != nil {
		return nil, nil
	}
	out, err := s.allocation.scontrol(ctx, "show", "topology")
	if err != nil {
		return nil, fmt.Errorf("switches of allocation %s: %w", s.allocation.id, err)
	}
	tree, err := files.ReadSlurmShow(strings.NewReader(out), "scontrol show topology")
	return tree.Switches(), err
}

// Nodes returns the name of this machine. In an allocation it returns the nodes of its file, or nil without one.
func (s *Scheduler) Nodes(context.Context) ([]string, error) {
	if s.allocation != nil {
		return slices.Sorted(slices.Values(s.allocation.nodes)), nil
	}
	return []string{s.host}, nil
}

// Show returns a command that a person can type to run the job.
func (s *Scheduler) Show(sub benchrunner.Submission) string {
	return "setsid timeout " + limitOf(sub) + " bash " + shellescape.Quote(sub.Script)
}

func limitOf(sub benchrunner.Submission) string {
	if sub.Limit <= 0 {
		return "0" // no limit for timeout(1)
	}
	return strconv.FormatFloat(max(sub.Limit.Seconds(), 0.001), 'f', 3, 64)
}

// Submit starts the script as a process in its own session. If the folder already belongs to a process,
// Submit returns the ID of that process.
func (s *Scheduler) Submit(ctx context.Context, sub benchrunner.Submission) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	out, err := os.OpenFile(filepath.Join(sub.Dir, "local.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return "", fmt.Errorf("submit %s: %w", sub.Name, err)
	}
	defer out.Close()
	alloc := ""
	if s.allocation != nil {
		alloc = s.allocation.id
	}
	nodes, err := s.allocation.nodeVariables(sub.Dir)
	if err != nil {
		return "", fmt.Errorf("submit %s: %w", sub.Name, err)
	}
	cmd := exec.Command("bash", "-c", s.allocation.startScript(), "tutti-job", sub.Script, limitOf(sub), s.host, alloc)
	// Orphans of the job become children of this process, so that they are found.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return "", fmt.Errorf("submit %s: %w", sub.Name, err)
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = sub.Dir, out, out
	cmd.Env = append(slices.Concat(s.environ, nodes), reaperVariable())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("submit %s: %w", sub.Name, err)
	}
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the script's exit code is in its folder
		close(gone)
	}()
	return s.identify(ctx, sub, cmd.Process.Pid, gone)
}

// identify waits until the new process has written its ID, usually about a millisecond. If the folder belongs
// to another process, the new process ends, and identify returns the ID of the other process. It continues
// after ctx has ended, so that the caller gets the ID of the job and can cancel it.
func (s *Scheduler) identify(ctx context.Context, sub benchrunner.Submission, pid int, gone <-chan struct{}) (string, error) {
	own := strconv.Itoa(pid) + "-"
	for {
		id, found, err := s.Find(ctx, sub)
		if err != nil || found && strings.HasPrefix(id, own) {
			return id, err
		}
		select {
		case <-gone:
			if id, found, err := s.Find(ctx, sub); err != nil || found {
				return id, err
			}
			return "", fmt.Errorf("submit %s: bash ended before the job began, see %s", sub.Name, filepath.Join(sub.Dir, "local.log"))
		case <-time.After(time.Millisecond):
		}
	}
}

type processID struct{ id, host, allocation string }

func readProcessID(dir string) (processID, bool, error) {
	path := filepath.Join(dir, "process", "id")
	text, found, err := readFile(path)
	if err != nil || !found {
		return processID{}, false, err
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) < 3 {
		return processID{}, false, fmt.Errorf("%s: want three lines: ID, host, allocation", path)
	}
	return processID{lines[0], lines[1], lines[2]}, true, nil
}

// Find implements benchrunner.Scheduler. It reads the folder of the job.
func (s *Scheduler) Find(_ context.Context, sub benchrunner.Submission) (string, bool, error) {
	c, found, err := readProcessID(sub.Dir)
	if err != nil {
		return "", false, fmt.Errorf("find %s: %w", sub.Name, err)
	}
	return c.id, found, nil
}

// Status implements benchrunner.Scheduler. It reads the folders of the jobs and /proc.
func (s *Scheduler) Status(_ context.Context, jobs map[string]benchrunner.Submission) (map[string]benchrunner.Status, error) {
	out := map[string]benchrunner.Status{}
	for id, sub := range jobs {
		st, known, err := s.status(id, sub)
		if err != nil {
			return nil, err
		}
		if known {
			out[id] = st
		}
	}
	return out, nil
}

func (s *Scheduler) status(id string, sub benchrunner.Submission) (benchrunner.Status, bool, error) {
	c, found, err := readProcessID(sub.Dir)
	if err != nil || !found || c.id != id {
		return benchrunner.Status{}, false, err
	}
	st := benchrunner.Status{Phase: benchrunner.JobRunning}
	if st.Started, err = modTime(sub.Dir, "process/id"); err != nil {
		return st, true, err
	}
	st.Submitted = st.Started
	if over, err := exited(&st, sub.Dir); err != nil || over {
		return st, true, err
	}
	if running, err := s.running(c, sub); err != nil || running {
		return st, true, err
	}
	if over, err := exited(&st, sub.Dir); err != nil || over { // the process ended between the two checks
		return st, true, err
	}
	st.Phase, st.Outcome, st.Reason = benchrunner.JobOver, coll.JobLost, "process "+id+" is gone without an exit code"
	at, err := modTime(sub.Dir, "cancelled")
	if !at.IsZero() {
		st.Outcome, st.Reason, st.Ended = coll.JobCancelled, "it was ended by tutti", at
	}
	return st, true, err
}

func exited(st *benchrunner.Status, dir string) (over bool, err error) {
	text, over, err := readFile(filepath.Join(dir, "exit"))
	if err != nil || !over {
		return false, err
	}
	st.Phase = benchrunner.JobOver
	switch code := strings.TrimSpace(string(text)); code {
	case "0":
		st.Outcome = coll.JobCompleted
	case "124", "137": // of timeout(1)
		st.Outcome, st.Reason = coll.JobTimeout, "its time limit"
	default:
		st.Outcome, st.Reason = coll.JobFailed, "exit code "+code
	}
	st.Ended, err = modTime(dir, "exit")
	return true, err
}

// running reports whether the process of a job exists. A process on another machine cannot be checked. It
// counts as running until its allocation has ended.
func (s *Scheduler) running(c processID, sub benchrunner.Submission) (bool, error) {
	p, err := parseID(c.id)
	if err != nil {
		return false, fmt.Errorf("job %s: %w", sub.Name, err)
	}
	if c.host == s.host {
		return p.alive()
	}
	if s.allocation != nil && c.allocation != s.allocation.id {
		return false, nil
	}
	return false, fmt.Errorf("job %s runs on %s, this is %s: go on there", sub.Name, c.host, s.host)
}

// Cancel ends all processes of the job, first by the signal TERM, then by KILL.
func (s *Scheduler) Cancel(ctx context.Context, id string, sub benchrunner.Submission) error {
	c, found, err := readProcessID(sub.Dir)
	if err != nil || !found || c.id != id {
		return err
	}
	running, err := s.running(c, sub)
	if err != nil {
		return err
	}
	p, err := parseID(id)
	if err != nil || c.host != s.host {
		return err
	}
	if running {
		if err := os.WriteFile(filepath.Join(sub.Dir, "cancelled"), nil, 0o666); err != nil {
			return fmt.Errorf("cancel %s: %w", sub.Name, err)
		}
	}
	if err := p.end(ctx); err != nil {
		return fmt.Errorf("cancel %s: %w", sub.Name, err)
	}
	return nil
}
