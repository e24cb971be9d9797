package benchrunner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// cancelGrace is the time for a command of a workload manager to end after its context is cancelled.
const cancelGrace = 5 * time.Second

// ManagerCommand is a command of a workload manager.
type ManagerCommand struct {
	Bin    string // folder of the command; searched in PATH when empty
	Name   string
	Args   []string
	Env    []string
	Dir    string
	Limit  time.Duration // then it is killed: a command that waits for its server never ends by itself
	Slow   time.Duration // if it takes longer, Notice receives a report
	Notice func(error)
	Clean  func(text string) string // shortens what the command printed for the message of the error
}

// CommandError is the error of a command of a workload manager.
type CommandError struct {
	Name     string
	Message  string // from standard error
	Code     int    // exit code; -1 if it was killed or did not start
	TimedOut bool
	Err      error
}

func (e *CommandError) Error() string {
	switch {
	case e.TimedOut:
		return strings.TrimSuffix(fmt.Sprintf("%s: no answer in time: %s", e.Name, e.Message), ": ")
	case e.Message != "":
		return e.Name + ": " + e.Message
	}
	return fmt.Sprintf("%s: %v", e.Name, e.Err)
}

// Unwrap returns the error of the process.
func (e *CommandError) Unwrap() error { return e.Err }

// Run runs the command and returns its output. The error is a *CommandError or that of ctx. If a command that submits a
// job were killed, tutti would not know whether it had submitted it. Therefore an interrupt from the terminal does not
// reach the command, and after ctx ends the command may continue for cancelGrace.
func (c ManagerCommand) Run(ctx context.Context) (stdout, stderr string, err error) {
	if err := ctx.Err(); err != nil {
		return "", "", err
	}
	path := c.Name
	if c.Bin != "" {
		path = filepath.Join(c.Bin, c.Name)
	}
	inTime, stop := context.WithTimeout(ctx, c.Limit)
	defer stop()
	cmd := exec.CommandContext(inTime, path, c.Args...)
	cmd.Env, cmd.Dir = c.Env, c.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = cancelGrace
	cmd.Cancel = func() error {
		if ctx.Err() == nil { // the command exceeded its time limit
			return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
		return os.ErrProcessDone
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	late := time.AfterFunc(c.Slow, func() { c.Notice(fmt.Errorf("%s has not answered for %v", c.Name, c.Slow)) })
	err = cmd.Run()
	late.Stop()
	if err == nil {
		return out.String(), errs.String(), nil
	}
	e := &CommandError{Name: c.Name, Message: c.Clean(errs.String()), Code: -1, Err: err, TimedOut: ctx.Err() == nil && inTime.Err() != nil}
	if e.Message == "" {
		e.Message = c.Clean(out.String()) // scontrol prints errors to standard output
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		e.Code = exit.ExitCode()
	}
	return out.String(), errs.String(), e
}
