package pbs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"tutti/benchrunner"
)

const slow = 5 * time.Second // a slower command is reported

type failure = benchrunner.CommandError

// run runs a command and returns its output; see benchrunner.ManagerCommand.
func (s *Scheduler) run(ctx context.Context, dir, name string, args ...string) (stdout, stderr string, err error) {
	return benchrunner.ManagerCommand{
		Bin: s.options.Bin, Name: name, Args: args, Env: environment(os.Environ()), Dir: dir, Limit: s.limit,
		Slow: slow, Notice: s.options.Notice, Clean: func(text string) string { return oneLine(name, text) },
	}.Run(ctx)
}

// query runs a command that submits nothing. Errors whose exit code is in `expected` are no errors. Other errors
// match benchrunner.ErrUnavailable, or are that of ctx.
func (s *Scheduler) query(ctx context.Context, expected []int, name string, args ...string) (stdout, stderr string, err error) {
	stdout, stderr, err = s.run(ctx, "/", name, args...)
	var f *failure
	switch {
	case err == nil:
		return stdout, stderr, nil
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case errors.As(err, &f) && slices.Contains(expected, f.Code):
		return stdout, stderr, nil
	}
	return "", "", fmt.Errorf("%w: %w", benchrunner.ErrUnavailable, err)
}

func oneLine(name, stderr string) string {
	var lines []string
	for line := range strings.Lines(stderr) {
		if line = strings.TrimPrefix(strings.TrimSpace(line), name+": "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// environment returns the environment of the commands: English texts, times in UTC, and no variables that act as
// options.
func environment(environ []string) []string {
	env := slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"TZ", "LC_ALL", "LANGUAGE", "PBS_DPREFIX", "QSTAT_DEFAULT_FORMAT"}, name)
	})
	return append(env, "LC_ALL=C", "TZ=UTC")
}
