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

func (a *app) runCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run [--trace FILE] [--table FILE] [--learn FOLDER] [--within] -- PROGRAM [ARGUMENT...]",
		Short: "Run an application, trace the collectives it calls, choose how they run or learn",
		Long: `Runs a command, most often mpiexec with an application, with the library that
"tutti runtime build" has made. The exit code is the command's own.

--trace writes what was called on which layout with how many bytes, how often
and for how long, as a file that grid.trace of a campaign reads.

--table follows a table that a campaign for the library libtutti has written:
what it selects runs by algorithms of the library instead of MPI's own.

--learn follows the table of a folder that "tutti online update" has made, or that
of --table, tries other algorithms in a share of the calls (--explore), and
leaves in the folder how long they took, for the next update.

--within learns while the program runs, by the same table: in each place it tries
the algorithms a few times, keeps the fastest, and tries again when its times
change. It needs no folder.

Either way trying others costs at most a share of the time of what the table
selects (--over), but for what an algorithm takes beyond what was expected.

The library is named by LD_PRELOAD. Open MPI's mpirun passes that to other
nodes only when it is told: mpirun -x LD_PRELOAD ...`,
		Example: indent("tutti run --trace trace.csv -- mpiexec -n 64 ./app", "tutti run --table tuned/tutti.table -- mpiexec -n 64 ./app",
			"tutti run --learn learned -- mpiexec -n 64 ./app"),
	}
	cmd.Flags().SetInterspersed(false) // what follows the program is the program's
	trace := cmd.Flags().String("trace", "", "write what the application calls into this CSV file")
	table := cmd.Flags().String("table", "", "choose algorithms by this table")
	learn := cmd.Flags().String("learn", "", "explore by the table of this `FOLDER` and leave samples there")
	explore := cmd.Flags().Float64("explore", 0.1, "with --learn: the share of calls that explore")
	within := cmd.Flags().Bool("within", false, "learn while the program runs, by --table or the table of --learn")
	over := cmd.Flags().Float64("over", 0.03, "with --learn or --within: the share of collective time that trying others may cost")
	library := cmd.Flags().String("library", csource.Runtime.Name, "the library that tutti runtime build has made")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usageError(cmd, errors.New("want the program that is to run, after --"))
		case *trace == "" && *table == "" && *learn == "" && !*within:
			return usageError(cmd, errors.New("want --trace FILE, --table FILE or --learn FOLDER"))
		case !(*explore >= 0 && *explore <= 1):
			return usageError(cmd, fmt.Errorf("--explore %g: want a share from 0 to 1", *explore))
		case !(*over >= 0 && *over <= mostOver):
			return usageError(cmd, fmt.Errorf("--over %g: want a share from 0 to %g", *over, mostOver))
		case *within && *learn == "" && *table == "":
			return usageError(cmd, errors.New("--within: want --table FILE or --learn FOLDER"))
		}
		if *learn != "" && *table == "" {
			*table = tableOf(*learn)
		}
		if *table != "" { // what the library would not follow is refused before anything runs
			_, err := readTable(*table)
			switch {
			case *learn != "" && errors.Is(err, fs.ErrNotExist):
				return withCode(codeInput, fmt.Errorf("%w: make it with tutti online update %s", err, *learn))
			case err != nil:
				return err
			}
		}
		env, err := a.preloaded(*library, []pathVariable{{"TUTTI_TRACE", *trace}, {"TUTTI_TABLE", *table}, {"TUTTI_SAMPLES", *learn}})
		if err != nil {
			return err
		}
		if *learn != "" {
			env = append(env, fmt.Sprintf("TUTTI_EXPLORE_SHARE=%g", *explore))
		}
		if *learn != "" || *within {
			env = append(env, fmt.Sprintf("TUTTI_BUDGET=%g", *over))
		}
		if *within {
			env = append(env, "TUTTI_MODE=learn")
		}
		return a.runProgram(cmd, args, env)
	}
	return cmd
}

// mostOver is where the library takes a share for a mistake.
const mostOver = 1e9

// pathVariable is a variable of the environment that names a file, or none.
type pathVariable struct{ name, path string }

// preloaded returns the environment with a library that is loaded before others, and
// with absolute paths of the files it works with.
func (a *app) preloaded(library string, files []pathVariable) ([]string, error) {
	path, err := filepath.Abs(library)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, withCode(codeInput, fmt.Errorf("%w: build it with tutti runtime build", err))
	}
	if strings.ContainsAny(path, " :") {
		return nil, withCode(codeInput, fmt.Errorf("%s: LD_PRELOAD cannot name a path with a blank or a colon", path))
	}
	env := slices.Clone(a.environ)
	for _, v := range env {
		if before, ok := strings.CutPrefix(v, "LD_PRELOAD="); ok && before != "" {
			path += ":" + before
		}
	}
	for _, f := range files {
		if f.path == "" {
			continue
		}
		to, err := filepath.Abs(f.path)
		if err != nil {
			return nil, err
		}
		env = append(env, f.name+"="+to)
	}
	return append(env, "LD_PRELOAD="+path), nil
}

// runProgram runs a command that takes over the terminal. Its exit code, or 128 and
// the signal that ended it, as shells have it, comes with errProgram.
func (a *app) runProgram(cmd *cobra.Command, args, env []string) error {
	c := exec.CommandContext(cmd.Context(), args[0], args[1:]...)
	c.Env, c.Stdin, c.Stdout, c.Stderr = env, a.stdin, a.stdout, a.stderr
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	err := c.Run()
	var failed *exec.ExitError
	if !errors.As(err, &failed) {
		return err
	}
	if status, ok := failed.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return withCode(exitCode(128+int(status.Signal())), errProgram)
	}
	return withCode(exitCode(failed.ExitCode()), errProgram)
}
