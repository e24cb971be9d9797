package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"tutti/internal/infile"
	"tutti/journal"
)

// processes starts tutti processes for a service.
type processes struct{ opt *Options }

// launcher starts and finds processes. The type processes implements it.
type launcher interface {
	start(ctx context.Context, log, output string, args []string) (process, error)
	run(ctx context.Context, log, output string, args ...string) error
	find(results string, last *journal.Process) process
}

// process is a tutti process that works on a campaign.
type process interface {
	// wait waits until the process ends and returns its exit code. If the code is not available, it returns
	// ExitUnknown. It stops waiting for a foreign process when ctx is cancelled.
	wait(ctx context.Context) (ExitCode, error)
	// signal sends a signal to the process, unless it is foreign.
	signal(os.Signal) error
	// foreign reports whether no service started the process.
	foreign() bool
	// record identifies the process for the next service. It returns nil for a foreign process, and if the system
	// does not tell.
	record() *journal.Process
}

// child is a process that this service started. It continues if the service ends: it has its own session and log.
type child struct{ cmd *exec.Cmd }

// start starts tutti in the folder that contains the log. It appends tutti's output to the log. If the
// parameter `output` is not empty, standard output goes into the file with that path instead. If ctx is cancelled,
// tutti is interrupted, and killed after the grace time.
func (p processes) start(ctx context.Context, log, output string, args []string) (process, error) {
	out, err := openLog(log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	words := slices.Concat(p.opt.Command, args)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(syscall.SIGTERM) }, p.opt.Drain
	cmd.Dir, cmd.Env = filepath.Dir(log), p.opt.Environ
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

// run runs tutti and waits for its end. An error contains the last message in the log.
func (p processes) run(ctx context.Context, log, output string, args ...string) error {
	c, err := p.start(ctx, log, output, args)
	if err != nil {
		return err
	}
	code, err := c.wait(ctx)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("tutti %s: it exceeded its time limit", args[0])
	case err != nil:
		return fmt.Errorf("tutti %s: %w", args[0], err)
	case code != ExitDone:
		return fmt.Errorf("tutti %s: exit code %d: %s", args[0], code, lastMessage(log))
	}
	return nil
}

// runJSON runs tutti and decodes its output. The folder dir gets tutti's log and output.
func runJSON(ctx context.Context, p launcher, dir string, result any, args ...string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	output := filepath.Join(dir, outputFile)
	if err := p.run(ctx, filepath.Join(dir, logFile), output, args...); err != nil {
		return err
	}
	return readJSON(output, result)
}

func (c *child) wait(context.Context) (ExitCode, error) {
	err := c.cmd.Wait()
	var ended *exec.ExitError
	switch {
	case err == nil:
		return ExitDone, nil
	case errors.As(err, &ended) && ended.ExitCode() >= 0:
		return ExitCode(ended.ExitCode()), nil
	}
	return ExitUnknown, err
}

func (c *child) signal(s os.Signal) error { return ignoreEnded(c.cmd.Process.Signal(s)) }

func (*child) foreign() bool { return false }

func (c *child) record() *journal.Process {
	p, err := journal.ProcessOf(c.cmd.Process.Pid)
	if err != nil {
		return nil
	}
	return &p
}

// adopted is a process that an earlier service started.
type adopted struct {
	journal.Process
	poll time.Duration // between two checks
}

func (a *adopted) wait(context.Context) (ExitCode, error) {
	for a.Runs() {
		time.Sleep(a.poll)
	}
	return ExitUnknown, nil
}

func (a *adopted) signal(s os.Signal) error {
	if !a.Runs() {
		return nil
	}
	p, err := os.FindProcess(a.PID)
	if err != nil {
		return ignoreEnded(err)
	}
	return ignoreEnded(p.Signal(s))
}

func (*adopted) foreign() bool { return false }

func (a *adopted) record() *journal.Process { return &a.Process }

// stranger is a process that has locked the journal of a campaign and that no service started, as far as this service
// knows. It gets no signal.
type stranger struct {
	results string // folder
	poll    time.Duration
}

// runs reports whether a process has locked the journal. If this cannot be found out, it returns true: two processes
// must not work on a campaign.
func (s *stranger) runs() bool {
	writer, err := journal.Writer(s.results)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, journal.ErrLocked):
		return false // an unreadable lock: tutti itself refuses it and says why
	case err != nil:
		return true
	}
	return !writer.Gone()
}

func (s *stranger) wait(ctx context.Context) (ExitCode, error) {
	for ctx.Err() == nil && s.runs() {
		time.Sleep(s.poll)
	}
	return ExitUnknown, nil
}

func (*stranger) signal(os.Signal) error { return nil }

func (*stranger) foreign() bool { return true }

func (*stranger) record() *journal.Process { return nil }

// find looks for a running process of a campaign that this service did not start, and returns nil if there is
// none. `last` is the process that a service started last for the campaign, or nil. If that
// process has ended, find looks for a process that has locked the journal in the folder `results`.
func (p processes) find(results string, last *journal.Process) process {
	if last != nil && last.Runs() {
		return &adopted{*last, p.opt.Poll}
	}
	if s := (&stranger{results, p.opt.Poll}); s.runs() {
		return s
	}
	return nil
}

// openLog opens the log of a campaign for appending. The campaign's jobs can write in its folder, so that it opens only
// a regular file.
func openLog(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	about, err := f.Stat()
	if err == nil && !about.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, infile.ErrKind)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func ignoreEnded(err error) error {
	if errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// tailBytes is how many bytes at the end of a log lastMessage reads.
const tailBytes = 4 << 10

// lastMessage returns the last line of a log that begins with "tutti: ". If no line does, it returns the
// last line, or "" for an empty log.
func lastMessage(log string) string {
	tail, err := readTail(log, tailBytes)
	if err != nil {
		return ""
	}
	text := "\n" + strings.TrimSpace(string(tail))
	if i := strings.LastIndex(text, "\ntutti: "); i >= 0 {
		text, _, _ = strings.Cut(text[i+1:], "\n")
		return text
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// readTail returns the last bytes of a file, at most the given number.
func readTail(path string, bytes int64) ([]byte, error) {
	f, err := infile.OpenUnlinked(path, infile.NoLimit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, stat.Size()-bytes)
	return io.ReadAll(io.NewSectionReader(f, from, stat.Size()-from))
}

// capLog shortens a log that is longer than maxBytes: it keeps the last maxBytes/2 bytes. A line that the
// process writes at the same moment may be lost.
func capLog(path string, maxBytes int64) error {
	stat, err := os.Lstat(path)
	if err != nil || !stat.Mode().IsRegular() || stat.Size() <= maxBytes {
		return nil // the log may not exist yet
	}
	tail, err := readTail(path, maxBytes/2)
	if err != nil {
		return err
	}
	if i := slices.Index(tail, '\n'); i >= 0 {
		tail = tail[i+1:]
	}
	f, err := openLog(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.Write(tail)
	return err
}
