package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"tutti/journal"
)

// processes starts tutti processes for a service.
type processes struct {
	command []string      // the program and the arguments before its commands
	environ []string      // nil: that of this process
	poll    time.Duration // between two checks of a process that is not a child
	grace   time.Duration // time for an interrupted process to end before it is killed
}

// process is a tutti process that works on a campaign.
type process interface {
	// wait waits until the process ends and returns its exit code. If the code is not available, it returns
	// ExitUnknown.
	wait() (ExitCode, error)
	signal(os.Signal) error
}

// child is a process that this service started. It runs in its own session and writes its log file itself.
// Therefore it continues if the service ends.
type child struct {
	cmd *exec.Cmd
}

// start starts tutti in the folder that contains the log. It appends tutti's output to the log. If the
// parameter `output` is not empty, standard output goes into the file with that path instead. If ctx is cancelled,
// tutti is interrupted, and killed after the grace time.
func (p processes) start(ctx context.Context, log, output string, args []string) (*child, error) {
	out, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	words := slices.Concat(p.command, args)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(os.Interrupt) }, p.grace
	cmd.Dir, cmd.Env = filepath.Dir(log), p.environ
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
	code, err := c.wait()
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
func (p processes) runJSON(ctx context.Context, dir string, result any, args ...string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	output := filepath.Join(dir, outputFile)
	if err := p.run(ctx, filepath.Join(dir, logFile), output, args...); err != nil {
		return err
	}
	return readJSON(output, result)
}

func (c *child) wait() (ExitCode, error) {
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

// other is a process that works on a campaign but was started by an earlier service or by a user.
type other struct {
	runs func() bool
	own  *journal.Process // that an earlier run of the service started; nil for a process that gets no signal
	poll time.Duration
}

func (o other) wait() (ExitCode, error) {
	for o.runs() {
		time.Sleep(o.poll)
	}
	return ExitUnknown, nil
}

func (o other) signal(s os.Signal) error {
	if o.own == nil || !o.runs() {
		return nil
	}
	p, err := os.FindProcess(o.own.PID)
	if err != nil {
		return err
	}
	return ignoreEnded(p.Signal(s))
}

// find looks for a running process of a campaign that this service did not start, and returns nil if there is
// none. The parameter `last` is the process that a service started last for the campaign, or nil. If that
// process has ended, find looks for a process that has locked the journal in the folder `results`.
func (p processes) find(results string, last *journal.Process) process {
	if last != nil && last.Runs() {
		return other{last.Runs, last, p.poll}
	}
	locked := func() bool {
		writer, err := journal.Writer(results)
		return err == nil && !writer.Gone()
	}
	if locked() {
		return other{locked, nil, p.poll}
	}
	return nil
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
	f, err := os.Open(path)
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
	stat, err := os.Stat(path)
	if err != nil || stat.Size() <= maxBytes {
		return nil // the log may not exist yet
	}
	tail, err := readTail(path, maxBytes/2)
	if err != nil {
		return err
	}
	if i := slices.Index(tail, '\n'); i >= 0 {
		tail = tail[i+1:]
	}
	if err := os.Truncate(path, 0); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(tail)
	return err
}
