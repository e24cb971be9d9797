package slurm

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/internal/lazyregexp"
)

const queryLimit = time.Minute // time limit of a command that changes nothing

type failure = benchrunner.CommandError

type command struct {
	name  string
	args  []string
	env   []string
	dir   string
	limit time.Duration
}

// run runs a command and returns its standard output; see benchrunner.ManagerCommand.
func (s *Scheduler) run(ctx context.Context, c command) (string, error) {
	stdout, _, err := benchrunner.ManagerCommand{
		Bin: s.options.Bin, Name: c.name, Args: c.args, Env: c.env, Dir: c.dir, Limit: c.limit,
		Slow: s.slow, Notice: s.options.Notice, Clean: errorText,
	}.Run(ctx)
	return stdout, err
}

// query runs a command other than sbatch. The error matches benchrunner.ErrUnavailable, or is that of ctx.
func (s *Scheduler) query(ctx context.Context, name string, args ...string) (string, error) {
	out, err := s.run(ctx, command{name, args, queryEnv(os.Environ()), "/", queryLimit})
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
	var env []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if !isOption(name) && name != "TZ" && name != "LC_ALL" && name != "LANGUAGE" {
			env = append(env, v)
		}
	}
	return append(env, "LC_ALL=C", "TZ=UTC", "SLURM_TIME_FORMAT=%s")
}

// inherited lists the variables that a job gets from tutti's environment. A name that ends in
// an asterisk stands for all variables with this prefix.
var inherited = []string{
	"HOME", "USER", "LOGNAME", "SHELL", "PATH", "LD_LIBRARY_PATH",
	"MODULEPATH", "MODULESHOME", "LMOD_*", "BASH_ENV",
}

func jobEnv(environ []string) []string {
	var env []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if identifying[name] {
			env = append(env, v)
			continue
		}
		for _, allowed := range inherited {
			start, open := strings.CutSuffix(allowed, "*")
			if name == allowed || open && strings.HasPrefix(name, start) {
				env = append(env, v)
			}
		}
	}
	return append(env, "LC_ALL=C")
}
