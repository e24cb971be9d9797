package pbs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"tutti/benchrunner"
)

const (
	cancelGrace = 5 * time.Second // time for a command to end after its context is cancelled
	slow        = 5 * time.Second // a slower command is reported
)

// failure is the error of a command.
type failure struct {
	name, message string
	code          int // exit code; -1 if it was killed or did not start
	err           error
}

func (f *failure) Error() string {
	if f.message == "" {
		return fmt.Sprintf("%s: %v", f.name, f.err)
	}
	return f.name + ": " + f.message
}

func (f *failure) Unwrap() error { return f.err }

// run runs a command and returns its output. A PBS command that waits for its server never ends by itself, so it
// is killed after s.limit. An interrupt from the terminal does not reach the command, and after ctx ends it may
// continue for cancelGrace: if qsub were killed, tutti would not know whether it had submitted the job.
func (s *Scheduler) run(ctx context.Context, dir, name string, args ...string) (stdout, stderr string, err error) {
	if err := ctx.Err(); err != nil {
		return "", "", err
	}
	path := name
	if s.options.Bin != "" {
		path = filepath.Join(s.options.Bin, name)
	}
	inTime, stop := context.WithTimeout(ctx, s.limit)
	defer stop()
	cmd := exec.CommandContext(inTime, path, args...)
	cmd.Env, cmd.Dir = environment(os.Environ()), dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = cancelGrace
	cmd.Cancel = func() error {
		if ctx.Err() == nil {
			return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
		return os.ErrProcessDone
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	late := time.AfterFunc(slow, func() { s.options.Notice(fmt.Errorf("%s has not answered for %v", name, slow)) })
	err = cmd.Run()
	late.Stop()
	if err == nil {
		return out.String(), errs.String(), nil
	}
	f := &failure{name: name, message: oneLine(name, errs.String()), code: -1, err: err}
	if ctx.Err() == nil && inTime.Err() != nil {
		f.message = strings.TrimSuffix("no answer in time: "+f.message, ": ")
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		f.code = exit.ExitCode()
	}
	return out.String(), errs.String(), f
}

// query runs a command that submits nothing. Errors whose exit code is in `expected` are no errors. Other errors
// match benchrunner.ErrUnavailable, or are that of ctx.
func (s *Scheduler) query(ctx context.Context, expected []int, name string, args ...string) (stdout, stderr string, err error) {
	stdout, stderr, err = s.run(ctx, "/", name, args...)
	var f *failure
	switch {
	case err == nil:
		return stdout, stderr, nil
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case errors.As(err, &f) && slices.Contains(expected, f.code):
		return stdout, stderr, nil
	}
	return "", "", fmt.Errorf("%w: %w", benchrunner.ErrUnavailable, err)
}

func oneLine(name, stderr string) string {
	var lines []string
	for line := range strings.Lines(stderr) {
		if line = strings.TrimPrefix(strings.TrimSpace(line), name+": "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// environment returns the environment of the commands: English texts, times in UTC, and no variables that act as
// options.
func environment(environ []string) []string {
	env := slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"TZ", "LC_ALL", "LANGUAGE", "PBS_DPREFIX", "QSTAT_DEFAULT_FORMAT"}, name)
	})
	return append(env, "LC_ALL=C", "TZ=UTC")
}
