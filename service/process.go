package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"tutti/internal/exitcode"
	"tutti/journal"
)

// process is tutti at work on a campaign.
type process interface {
	// wait returns the exit code and why a process has none.
	wait() (exitcode.Code, error)
	signal(os.Signal) error
}

// child is a process that this service started. It outlives the service: it is
// the leader of a session of its own and writes its log itself.
type child struct {
	cmd *exec.Cmd
}

// start runs tutti with the arguments. What it prints goes to the end of the log,
// its standard output into a file of its own where one is named.
func (s *Service) start(log, output string, args []string) (*child, error) {
	out, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	words := append(append([]string{}, s.opt.Command...), args...)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Env = filepath.Dir(log), s.opt.Environ
	cmd.Stdout, cmd.Stderr = out, out
	if output != "" {
		own, err := os.Create(output)
		if err != nil {
			return nil, err
		}
		defer own.Close()
		cmd.Stdout = own
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &child{cmd}, nil
}

func (c *child) wait() (exitcode.Code, error) {
	err := c.cmd.Wait()
	var ended *exec.ExitError
	switch {
	case err == nil:
		return exitcode.Done, nil
	case errors.As(err, &ended) && ended.ExitCode() >= 0:
		return exitcode.Code(ended.ExitCode()), nil
	}
	return exitcode.Unknown, err
}

func (c *child) signal(s os.Signal) error { return ignoreDone(c.cmd.Process.Signal(s)) }

// orphan is a process that an earlier service started.
type orphan struct {
	journal.Process
	poll time.Duration
}

func (o orphan) wait() (exitcode.Code, error) {
	for o.Runs() {
		time.Sleep(o.poll)
	}
	return exitcode.Unknown, nil
}

func (o orphan) signal(s os.Signal) error {
	if !o.Runs() {
		return nil
	}
	p, err := os.FindProcess(o.PID())
	if err != nil {
		return err
	}
	return ignoreDone(p.Signal(s))
}

// stranger is somebody else who has the journal of a campaign: a person at work
// on it, or a process on another machine. It is waited for and left alone.
type stranger struct {
	dir  string
	poll time.Duration
}

func (o stranger) wait() (exitcode.Code, error) {
	for o.present() {
		time.Sleep(o.poll)
	}
	return exitcode.Unknown, nil
}

func (o stranger) present() bool {
	p, err := journal.Writer(o.dir)
	return err == nil && !p.Gone()
}

func (o stranger) signal(os.Signal) error { return nil }

func ignoreDone(err error) error {
	if errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// orphanOf finds who is at work on a campaign without being a child of this
// service; nil when nobody is.
func (s *Service) orphanOf(e *entry) process {
	if e.Process != nil && e.Process.Runs() {
		return orphan{*e.Process, s.opt.Poll}
	}
	if o := (stranger{e.results(), s.opt.Poll}); o.present() {
		return o
	}
	return nil
}

// once runs tutti to its end, for things that take seconds. The error says what it
// printed last.
func (s *Service) once(ctx context.Context, log, output string, args ...string) error {
	c, err := s.start(log, output, args)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.signal(os.Interrupt) })
	defer stop()
	code, err := c.wait()
	switch {
	case err != nil:
		return fmt.Errorf("tutti %s: %w", args[0], err)
	case code != exitcode.Done:
		return fmt.Errorf("tutti %s: exit code %d: %s", args[0], code, lastLine(log))
	}
	return nil
}
