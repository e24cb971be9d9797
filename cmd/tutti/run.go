package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"tutti/csource"
)

// maxBudget is the largest value of --budget that the runtime library accepts.
const maxBudget = 1e9

type runOptions struct {
	*app
	trace   string
	table   string
	learn   string
	explore float64
	within  bool
	budget  float64
	library string
}

func runCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run [flags] -- PROGRAM [ARGUMENT...]",
		Short: "Run an application that is traced, tuned by a table, or learns",
		Long: `run starts a command, usually mpiexec with an application, and preloads the runtime
library ("tutti build runtime"). Its exit code is that of the command, 127 if there is no
such command and 126 if it cannot be started.

--trace writes the collective calls of the application to a file that grid.trace of a
campaign reads: layout, message size, number and time of calls.

--table selects algorithms by the table that a campaign for the library libtutti
wrote. They replace those of the MPI library.

--learn selects by the table in a folder that "tutti online update" made, or by
--table. A share of the calls (--explore) tries other algorithms. Their times are
stored in the folder for the next update.

--within learns while the program runs and needs no folder. For each kind of call it
tries the algorithms a few times, keeps the fastest, and starts over when times change.

Trying other algorithms costs at most a share of the collective time (--budget), apart
from the amount by which an algorithm exceeds its expected time.

The library is loaded through LD_PRELOAD. Open MPI's mpirun needs an option to pass
this variable to other nodes: mpirun -x LD_PRELOAD ...`,
		Example: examples("tutti run --trace trace.csv -- mpiexec -n 64 ./app", "tutti run --table tuned/tutti.table -- mpiexec -n 64 ./app",
			"tutti run --learn learned -- mpiexec -n 64 ./app"),
	}
	o := &runOptions{app: a}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // flags after the program belong to the program
	flags.StringVar(&o.trace, "trace", "", "write the calls of the application to this CSV `FILE`")
	flags.StringVar(&o.table, "table", "", "select algorithms by the table in this `FILE`")
	flags.StringVar(&o.learn, "learn", "", "explore by the table in this `FOLDER` and store samples there")
	flags.Float64Var(&o.explore, "explore", 0.1, "share of calls that explore (--learn)")
	flags.BoolVar(&o.within, "within", false, "learn while the program runs, from --table or the table of --learn")
	flags.Float64Var(&o.budget, "budget", 0.03, "share of collective time that exploring may cost (--learn, --within)")
	flags.StringVar(&o.library, "library", csource.Runtime.Name, "runtime library, a `FILE` that tutti build runtime made")
	mustComplete(cmd.MarkFlagDirname("learn"))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(args); err != nil {
			return usageError(cmd, err)
		}
		env, err := o.environment()
		if err != nil {
			return err
		}
		before, _ := os.Stat(o.trace)
		err = runProgram(a, cmd, args, env)
		o.checkTrace(before)
		return err
	}
	return cmd
}

// check returns an error for flags that are missing, are out of range or contradict each other.
func (o *runOptions) check(args []string) error {
	switch {
	case len(args) == 0:
		return errors.New("want a program to run, after --")
	case o.trace == "" && o.table == "" && o.learn == "" && !o.within:
		return errors.New("want --trace FILE, --table FILE or --learn FOLDER")
	case o.within && o.learn == "" && o.table == "":
		return errors.New("--within: want --table FILE or --learn FOLDER")
	case !(o.explore >= 0 && o.explore <= 1):
		return fmt.Errorf("--explore %g: want a share from 0 to 1", o.explore)
	case !(o.budget >= 0 && o.budget <= maxBudget):
		return fmt.Errorf("--budget %g: want a share from 0 to %g", o.budget, maxBudget)
	}
	return nil
}

// environment returns the environment in which the program runs, with the variables that the flags set. It
// returns an error if the runtime library cannot use the table or write the trace.
func (o *runOptions) environment() ([]string, error) {
	if o.learn != "" && o.table == "" {
		o.table = tableIn(o.learn)
	}
	if err := o.checkTracePath(); err != nil {
		return nil, withCode(codeInput, err)
	}
	if o.table != "" {
		_, err := readTable(o.table)
		switch {
		case o.learn != "" && errors.Is(err, fs.ErrNotExist):
			return nil, withCode(codeInput, fmt.Errorf("%w: make it with tutti online update %s", err, o.learn))
		case err != nil:
			return nil, err
		}
	}
	env, err := preloaded(o.environ, o.library, []pathVariable{{"TUTTI_TRACE", o.trace}, {"TUTTI_TABLE", o.table}, {"TUTTI_SAMPLES", o.learn}})
	if err != nil {
		return nil, err
	}
	if o.learn != "" {
		env = append(env, fmt.Sprintf("TUTTI_EXPLORE_SHARE=%g", o.explore))
	}
	if o.learn != "" || o.within {
		env = append(env, fmt.Sprintf("TUTTI_BUDGET=%g", o.budget))
	}
	if o.within {
		env = append(env, "TUTTI_MODE=learn")
	}
	return env, nil
}

// checkTracePath returns an error if the trace could not be written when the program ends.
func (o *runOptions) checkTracePath() error {
	if o.trace == "" {
		return nil
	}
	if info, err := os.Stat(o.trace); err == nil && info.IsDir() {
		return fmt.Errorf("--trace %s: a folder: want a file", o.trace)
	}
	if _, err := os.Stat(filepath.Dir(o.trace)); err != nil {
		return fmt.Errorf("--trace %s: %w: want a file in a folder that exists", o.trace, err)
	}
	return nil
}

// checkTrace prints a message if the program has not written a trace. `before` is the file before the program began, nil
// if there was none.
func (o *runOptions) checkTrace(before os.FileInfo) {
	if o.trace == "" {
		return
	}
	if info, err := os.Stat(o.trace); err != nil || before != nil && os.SameFile(before, info) { // a trace is a new file
		o.printLine(fmt.Sprintf("tutti: nothing was traced: %s was not written: the program made no collective calls, or does not use the MPI library of %s", o.trace, o.library))
	}
}

// pathVariable is an environment variable that contains the path of a file. If the path is "", the variable
// is not set.
type pathVariable struct{ name, path string }

// preloaded returns the environment for a program. It sets LD_PRELOAD to the library, and each variable in
// `files` to the absolute path of its file.
func preloaded(environ []string, library string, files []pathVariable) ([]string, error) {
	path, err := filepath.Abs(library)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, withCode(codeInput, fmt.Errorf("%w: build it with tutti build runtime", err))
	}
	if strings.ContainsAny(path, " :") {
		return nil, withCode(codeInput, fmt.Errorf("%s: LD_PRELOAD cannot name a path with a blank or a colon", path))
	}
	env := slices.Clone(environ)
	for _, v := range env {
		if before, ok := strings.CutPrefix(v, "LD_PRELOAD="); ok && before != "" {
			path += ":" + before
		}
	}
	for _, f := range files {
		if f.path == "" {
			continue
		}
		absolute, err := filepath.Abs(f.path)
		if err != nil {
			return nil, err
		}
		env = append(env, f.name+"="+absolute)
	}
	return append(env, "LD_PRELOAD="+path), nil
}

// runProgram runs a command with the standard streams of tutti. If the command fails, the error matches
// errProgram and has the command's exit code. If signal n killed the command, the code is 128+n. Like shells,
// it uses 127 for a command that does not exist and 126 for one that cannot be started.
func runProgram(a *app, cmd *cobra.Command, args, env []string) error {
	c := exec.CommandContext(cmd.Context(), args[0], args[1:]...)
	c.Env, c.Stdin, c.Stdout, c.Stderr = env, a.stdin, ownFile(a.stdout), ownFile(a.stderr)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	err := c.Run()
	switch {
	case c.Process != nil:
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound):
		return withCode(127, err)
	default:
		return withCode(126, err)
	}
	failed, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return err
	}
	if status, ok := failed.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return withCode(exitCode(128+int(status.Signal())), errProgram)
	}
	return withCode(exitCode(failed.ExitCode()), errProgram)
}
