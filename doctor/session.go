package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"tutti/benchrunner"
	"tutti/internal/config"
	"tutti/internal/infile"
)

// longestOutput is the largest number of bytes of an output stream that the method `run` keeps. It is ample:
// ompi_info writes 200 kB.
const longestOutput = 4 << 20

const grace = time.Second

type result struct {
	Stdout, Stderr string
	Code           int // exit code; -1 if the command did not start or a signal ended it
	TimedOut       bool
	Err            error // nil if the command ended with exit code 0
	Took           time.Duration
}

// message returns the most relevant line of the output. It prefers a line with "error" or "fatal", then a help text of
// Open MPI, which it returns in one line. Otherwise it takes the first line with a letter, from standard error if
// possible. If there is no such line, it returns the error of the command.
func (r result) message() string {
	lines, help := benchrunner.WithoutHelp(strings.Split(r.Stderr+"\n"+r.Stdout, "\n"))
	var first string
	for _, line := range lines {
		line = strings.TrimSpace(line)
		lower := strings.ToLower(line)
		if strings.Contains(lower, "error") || strings.Contains(lower, "fatal") {
			return printable(line)
		}
		if first == "" && strings.ContainsFunc(line, unicode.IsLetter) {
			first = line
		}
	}
	if first == "" && r.Err != nil {
		first = r.Err.Error()
	}
	if help != "" {
		return plain(help)
	}
	return printable(first)
}

// printable returns the beginning of a text without control characters.
func printable(s string) string {
	const most = 200
	s = plain(s)
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}

// plain replaces control characters by question marks.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < ' ' || r == 0x7f || r == '\uFFFD':
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

type command struct {
	args  []string // args[0] is the path of the program
	env   []string // variables in addition to those of the session
	drop  []string // names of the session's variables to remove
	stdin string
	dir   string
	limit time.Duration
}

// run runs a command until it ends or reaches its time limit. If the program was just compiled and is still
// open for writing (ETXTBSY), run tries again.
func (x *session) run(ctx context.Context, c command) result {
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

// runOnce runs a command in its own process group. When ctx ends, the group gets SIGTERM, so
// that launchers can clean up, and SIGKILL one second later.
func (x *session) runOnce(ctx context.Context, c command) result {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Env = append(without(x.environ, c.drop), c.env...)
	cmd.Dir = c.dir
	if c.stdin != "" {
		cmd.Stdin = strings.NewReader(c.stdin)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = grace
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	stdout, stderr := &limitedBuffer{}, &limitedBuffer{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	began := time.Now()
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // kills remaining child processes
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

func without(environ, drop []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(drop, name)
	})
}

// quiet returns an environment in which programs print English text in the formats that the parsers expect.
func quiet(environ []string) []string {
	drop := []string{"LC_ALL", "LANG", "LANGUAGE", "SLURM_TIME_FORMAT", "SINFO_FORMAT", "SQUEUE_FORMAT", "SLURM_CLUSTERS", "SLURM_DEBUG", "SLURM_LABELIO"}
	return append(without(environ, drop), "LC_ALL=C")
}

type limitedBuffer struct{ text bytes.Buffer }

func (c *limitedBuffer) Write(p []byte) (int, error) {
	c.text.Write(p[:min(len(p), longestOutput-c.text.Len())])
	return len(p), nil
}

func (x *session) getenv(name string) string {
	for _, v := range slices.Backward(x.environ) {
		if value, found := strings.CutPrefix(v, name+"="); found {
			return value
		}
	}
	return ""
}

func (x *session) path() []string {
	var out []string
	for _, dir := range filepath.SplitList(x.getenv("PATH")) {
		if filepath.IsAbs(dir) && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

func (x *session) look(name string) string { return lookIn(x.path(), name) }

// short returns the name of a program if PATH leads to this program, otherwise its path.
func (x *session) short(path string) string {
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

func (x *session) prepare(ctx context.Context, c config.Campaign) {
	x.setUp(ctx, c.Runner)
	x.environ = append(x.environ, c.Runner.Env...)
	if c.Slurm.Bin != "" {
		x.environ = append(x.environ, "PATH="+c.Slurm.Bin+":"+x.getenv("PATH"))
	}
}

func (x *session) setUp(ctx context.Context, r config.Runner) {
	if len(r.Modules)+len(r.Setup) == 0 {
		return
	}
	bash := cmp.Or(x.look("bash"), "/bin/bash")
	// Every user of the machine could read the lines in an argument.
	done := x.run(ctx, command{args: []string{bash, "-c", ". /dev/stdin"}, stdin: setUpScript(r), dir: x.options.Dir, limit: x.limits.compile})
	environ := strings.Split(strings.TrimSuffix(done.Stdout, "\x00"), "\x00")
	state, fix := Warning, "run its lines by hand; they may work on the nodes only"
	if r.Facts().Attached { // jobs run here
		state, fix = Missing, "run its lines by hand"
	}
	switch {
	case done.TimedOut:
		x.add(need("set-up", state, fix, "runner.modules and runner.setup do not end here within "+x.limits.compile.String()))
	case done.Err != nil || len(environ) < 2:
		x.add(need("set-up", state, fix, "runner.modules and runner.setup do not work here: "+done.message()))
	default:
		x.environ = quiet(environ)
		x.add(need("set-up", OK, "", "runner.modules and runner.setup work here"))
	}
}

// setUpScript returns a script that runs a campaign's set-up and prints the resulting environment. It
// prints a zero byte after each variable. The output of the set-up goes to standard error.
func setUpScript(r config.Runner) string {
	var b strings.Builder
	b.WriteString("exec 3>&1 1>&2\n")
	b.WriteString(benchrunner.LoadModules(r.Modules) + "\n")
	for _, line := range r.Setup {
		b.WriteString(line + "\n")
	}
	b.WriteString("command -p env -0 >&3\n")
	return b.String()
}

// envOf returns the variables that the campaign sets for a library.
func (x *session) envOf(library string) []string {
	return x.envWhere(func(l config.Library) bool { return l.Name == library })
}

// envFor returns the variables that the campaign sets for a benchmark program.
func (x *session) envFor(program string) []string {
	return x.envWhere(func(l config.Library) bool {
		return infile.Resolve(program) == infile.Resolve(l.Benchmark) || strings.HasPrefix(infile.Resolve(program), infile.Resolve(l.Benchmark)+"/")
	})
}

func (x *session) envWhere(is func(config.Library) bool) []string {
	if x.options.Campaign != nil {
		if i := slices.IndexFunc(x.options.Campaign.Libraries, is); i >= 0 {
			return x.options.Campaign.Libraries[i].Env
		}
	}
	return nil
}
