package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

const (
	queryLimit = time.Minute     // of a command that asks
	farewell   = 5 * time.Second // left to a command that runs when the caller gives up
)

// failure is a command that did not do what it should.
type failure struct {
	name     string
	words    string // what it wrote to standard error
	code     int    // exit code; -1 when it was killed
	timedOut bool
	err      error
}

func (f *failure) Error() string {
	switch {
	case f.timedOut:
		return fmt.Sprintf("%s: no answer in time: %s", f.name, f.words)
	case f.words != "":
		return f.name + ": " + f.words
	}
	return fmt.Sprintf("%s: %v", f.name, f.err)
}

func (f *failure) Unwrap() error { return f.err }

// command is one of Slurm's with what it needs.
type command struct {
	name  string
	args  []string
	env   []string
	dir   string
	limit time.Duration
}

// run runs a command and returns its standard output. Its error is a *failure, or
// that of ctx. The command is not among those that a terminal interrupts, and when
// ctx ends it has a moment to finish: killing sbatch leaves unknown what it did.
func (s *Scheduler) run(ctx context.Context, c command) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	path := c.name
	if s.options.Bin != "" {
		path = filepath.Join(s.options.Bin, c.name)
	}
	inTime, stop := context.WithTimeout(ctx, c.limit)
	defer stop()
	cmd := exec.CommandContext(inTime, path, c.args...)
	cmd.Env, cmd.Dir = c.env, c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = farewell
	cmd.Cancel = func() error {
		if ctx.Err() == nil { // it had its time
			return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
		return os.ErrProcessDone
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	slow := time.AfterFunc(s.slow, func() { s.options.Notice(fmt.Errorf("%s has not answered for %v", c.name, s.slow)) })
	err := cmd.Run()
	slow.Stop()
	if err == nil {
		return stdout.String(), nil
	}
	f := &failure{name: c.name, words: words(stderr.String()), code: -1, err: err}
	if f.words == "" {
		f.words = words(stdout.String()) // scontrol complains there
	}
	f.timedOut = ctx.Err() == nil && inTime.Err() != nil
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		f.code = exit.ExitCode()
	}
	return stdout.String(), f
}

// query runs a command that changes nothing.
func (s *Scheduler) query(ctx context.Context, name string, args ...string) (string, error) {
	return s.run(ctx, command{name, args, queryEnv(os.Environ()), "/", queryLimit})
}

var prefix = regexp.MustCompile(`(?m)^(sbatch|squeue|sacct|scontrol|scancel|sinfo): (error: )?`)

// words returns in one line what a command complained about.
func words(stderr string) string {
	var lines []string
	for line := range strings.Lines(prefix.ReplaceAllString(stderr, "")) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// kept are the variables of Slurm that say which cluster this is and who asks.
var kept = map[string]bool{"SLURM_CONF": true, "SLURM_CONF_SERVER": true, "SLURM_JWT": true}

// steers says whether Slurm's commands read the variable as an option.
func steers(name string) bool {
	first, _, _ := strings.Cut(name, "_")
	switch first {
	case "SLURM", "SBATCH", "SALLOC", "SRUN", "SQUEUE", "SACCT", "SCANCEL", "SCONTROL", "SINFO", "SLURMD":
		return !kept[name]
	}
	return false
}

// queryEnv returns environ for commands that ask: times come as seconds since 1970,
// and where they do not, in UTC.
func queryEnv(environ []string) []string {
	var env []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if !steers(name) && name != "TZ" && name != "LC_ALL" && name != "LANGUAGE" {
			env = append(env, v)
		}
	}
	return append(env, "LC_ALL=C", "TZ=UTC", "SLURM_TIME_FORMAT=%s")
}

// inherited are the variables that a job takes from the caller; a name that ends in
// an asterisk stands for all that begin so.
var inherited = []string{
	"HOME", "USER", "LOGNAME", "SHELL", "PATH", "LD_LIBRARY_PATH",
	"MODULEPATH", "MODULESHOME", "LMOD_*", "BASH_ENV",
}

// jobEnv returns what a job sees of environ.
func jobEnv(environ []string) []string {
	var env []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if kept[name] {
			env = append(env, v)
			continue
		}
		for _, allowed := range inherited {
			start, open := strings.CutSuffix(allowed, "*")
			if name == allowed || open && strings.HasPrefix(name, start) {
				env = append(env, v)
			}
		}
	}
	return append(env, "LC_ALL=C")
}
