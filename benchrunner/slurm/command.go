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

	"tutti/benchrunner"
)

const (
	queryLimit  = time.Minute     // time limit of a command that changes nothing
	cancelGrace = 5 * time.Second // time for a running command to end after its context is cancelled
)

type failure struct {
	name     string
	message  string // message from standard error
	code     int    // exit code; -1 if it was killed
	timedOut bool
	err      error
}

func (f *failure) Error() string {
	switch {
	case f.timedOut:
		return fmt.Sprintf("%s: no answer in time: %s", f.name, f.message)
	case f.message != "":
		return f.name + ": " + f.message
	}
	return fmt.Sprintf("%s: %v", f.name, f.err)
}

func (f *failure) Unwrap() error { return f.err }

type command struct {
	name  string
	args  []string
	env   []string
	dir   string
	limit time.Duration
}

// run runs a command and returns its standard output. The error is a *failure or that of ctx. If sbatch were
// killed, tutti would not know whether it had submitted the job. Therefore an interrupt from the terminal does
// not reach the command, and after ctx ends the command may continue for cancelGrace.
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
	cmd.WaitDelay = cancelGrace
	cmd.Cancel = func() error {
		if ctx.Err() == nil { // the command exceeded its time limit
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
	f := &failure{name: c.name, message: errorText(stderr.String()), code: -1, err: err}
	if f.message == "" {
		f.message = errorText(stdout.String()) // scontrol prints errors to standard output
	}
	f.timedOut = ctx.Err() == nil && inTime.Err() != nil
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		f.code = exit.ExitCode()
	}
	return stdout.String(), f
}

// query runs a command other than sbatch. The error matches benchrunner.ErrUnavailable, or is that of ctx.
func (s *Scheduler) query(ctx context.Context, name string, args ...string) (string, error) {
	out, err := s.run(ctx, command{name, args, queryEnv(os.Environ()), "/", queryLimit})
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return "", fmt.Errorf("%w: %w", benchrunner.ErrUnavailable, err)
}

var prefix = regexp.MustCompile(`(?m)^(sbatch|squeue|sacct|scontrol|scancel|sinfo): (error: )?`)

func errorText(stderr string) string {
	var lines []string
	for line := range strings.Lines(prefix.ReplaceAllString(stderr, "")) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

var identifying = map[string]bool{"SLURM_CONF": true, "SLURM_CONF_SERVER": true, "SLURM_JWT": true}

// isOption reports whether Slurm's commands use the environment variable as an option.
func isOption(name string) bool {
	first, _, _ := strings.Cut(name, "_")
	switch first {
	case "SLURM", "SBATCH", "SALLOC", "SRUN", "SQUEUE", "SACCT", "SCANCEL", "SCONTROL", "SINFO", "SLURMD":
		return !identifying[name]
	}
	return false
}

// queryEnv returns the environment for query commands, derived from `environ`. It makes Slurm print times as seconds
// since 1970, or in UTC where seconds are not possible.
func queryEnv(environ []string) []string {
	var env []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if !isOption(name) && name != "TZ" && name != "LC_ALL" && name != "LANGUAGE" {
			env = append(env, v)
		}
	}
	return append(env, "LC_ALL=C", "TZ=UTC", "SLURM_TIME_FORMAT=%s")
}

// inherited lists the variables that a job gets from tutti's environment. A name that ends in
// an asterisk stands for all variables with this prefix.
var inherited = []string{
	"HOME", "USER", "LOGNAME", "SHELL", "PATH", "LD_LIBRARY_PATH",
	"MODULEPATH", "MODULESHOME", "LMOD_*", "BASH_ENV",
}

func jobEnv(environ []string) []string {
	var env []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if identifying[name] {
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
