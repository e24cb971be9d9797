package slurm

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/internal/lazyregexp"
)

const queryLimit = time.Minute // time limit of a command that changes nothing

type (
	failure = benchrunner.CommandError
	command = benchrunner.ManagerCommand
)

// run runs a command with the settings of the scheduler and returns its standard output.
func (s *Scheduler) run(ctx context.Context, c command) (string, error) {
	c.Bin, c.Slow, c.Notice, c.Clean = s.options.Bin, s.slow, s.options.Notice, errorText
	stdout, _, err := c.Run(ctx)
	return stdout, err
}

// query runs a command other than sbatch. The error matches benchrunner.ErrUnavailable, or is that of ctx.
func (s *Scheduler) query(ctx context.Context, name string, args ...string) (string, error) {
	out, err := s.run(ctx, command{Name: name, Args: args, Env: queryEnv(os.Environ()), Dir: "/", Limit: queryLimit})
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return "", fmt.Errorf("%w: %w", benchrunner.ErrUnavailable, err)
}

var prefix = lazyregexp.New(`(?m)^(sbatch|squeue|sacct|scontrol|scancel|sinfo): (error: )?`)

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
	env := slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return isOption(name) || name == "TZ" || name == "LC_ALL" || name == "LANGUAGE"
	})
	return append(env, "LC_ALL=C", "TZ=UTC", "SLURM_TIME_FORMAT=%s")
}

// inherited lists the variables that a job gets from tutti's environment. A name that ends in
// an asterisk stands for all variables with this prefix.
var inherited = []string{
	"HOME", "USER", "LOGNAME", "SHELL", "PATH", "LD_LIBRARY_PATH",
	"MODULEPATH", "MODULESHOME", "LMOD_*", "BASH_ENV",
}

func jobEnv(environ []string) []string {
	env := slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !identifying[name] && !slices.ContainsFunc(inherited, func(allowed string) bool {
			start, open := strings.CutSuffix(allowed, "*")
			return name == allowed || open && strings.HasPrefix(name, start)
		})
	})
	return append(env, "LC_ALL=C")
}
