package doctor

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// longestOutput is what is kept of each stream, bytes; ompi_info writes 200 kB.
const longestOutput = 4 << 20

// grace is the time between the request to end and the order.
const grace = time.Second

// result is what became of a command.
type result struct {
	Stdout, Stderr string
	Code           int // -1 when it did not start or a signal ended it
	TimedOut       bool
	Err            error // nil: it ran and ended with 0
	Took           time.Duration
}

// said returns the line that says what went wrong: the first that names an error
// on stderr, else the first of both streams, else the error itself.
func (r result) said() string {
	var first string
	for line := range strings.Lines(r.Stderr + "\n" + r.Stdout) {
		line = strings.TrimSpace(line)
		lower := strings.ToLower(line)
		if strings.Contains(lower, "error") || strings.Contains(lower, "fatal") {
			return printable(line)
		}
		if first == "" && strings.ContainsFunc(line, isLetter) {
			first = line
		}
	}
	if first == "" && r.Err != nil {
		first = r.Err.Error()
	}
	return printable(first)
}

func isLetter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }

// printable makes one short line of what a program said.
func printable(s string) string {
	const most = 200
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < ' ' || r == 0x7f || r == '\uFFFD':
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}

// command is what is run.
type command struct {
	args  []string // args[0] is a path
	env   []string // on top of the examiner's
	drop  []string // names of the examiner's that it does not see
	dir   string
	limit time.Duration
}

// run runs a command to its end or its time limit. A program that was just
// compiled may be held open by a file system for a moment.
func (x *examiner) run(ctx context.Context, c command) result {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	for {
		r := x.runOnce(ctx, c)
		if !errors.Is(r.Err, syscall.ETXTBSY) || ctx.Err() != nil {
			return r
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// runOnce asks the whole process group to end when the context does, so that
// launchers clean up behind them, and makes it end a second later.
func (x *examiner) runOnce(ctx context.Context, c command) result {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Env = append(without(x.environ, c.drop), c.env...)
	cmd.Dir = c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = grace
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	stdout, stderr := &capped{}, &capped{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	began := time.Now()
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left behind
	}
	r := result{
		Stdout: stdout.text.String(), Stderr: stderr.text.String(),
		Code: -1, Err: err, Took: time.Since(began), TimedOut: errors.Is(ctx.Err(), context.DeadlineExceeded),
	}
	if cmd.ProcessState != nil {
		r.Code = cmd.ProcessState.ExitCode()
	}
	return r
}

// without returns the variables whose names are not dropped.
func without(environ, drop []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(drop, name)
	})
}

// quiet makes commands speak the language that the parsers read, in the format
// they read.
func quiet(environ []string) []string {
	drop := []string{"LC_ALL", "LANG", "LANGUAGE", "SLURM_TIME_FORMAT", "SINFO_FORMAT", "SQUEUE_FORMAT", "SLURM_CLUSTERS", "SLURM_DEBUG", "SLURM_LABELIO"}
	return append(without(environ, drop), "LC_ALL=C")
}

// capped keeps the first bytes and takes the rest without a word.
type capped struct{ text bytes.Buffer }

func (c *capped) Write(p []byte) (int, error) {
	c.text.Write(p[:min(len(p), longestOutput-c.text.Len())])
	return len(p), nil
}

// getenv returns the last value of a variable; "" when it is not set.
func (x *examiner) getenv(name string) string {
	for _, v := range slices.Backward(x.environ) {
		if value, found := strings.CutPrefix(v, name+"="); found {
			return value
		}
	}
	return ""
}

// path returns the folders of the PATH.
func (x *examiner) path() []string {
	var out []string
	for _, dir := range filepath.SplitList(x.getenv("PATH")) {
		if filepath.IsAbs(dir) && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// look returns the first program of that name on the PATH, "" when there is none.
func (x *examiner) look(name string) string { return lookIn(x.path(), name) }

// short returns the name of a program that the PATH leads to, else its path.
func (x *examiner) short(path string) string {
	if name := filepath.Base(path); x.look(name) == path {
		return name
	}
	return path
}

func lookIn(dirs []string, name string) string {
	for _, dir := range dirs {
		if path := filepath.Join(dir, name); isProgram(path) {
			return path
		}
	}
	return ""
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// real follows symbolic links; a path that cannot be followed stays as it is.
func real(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}
