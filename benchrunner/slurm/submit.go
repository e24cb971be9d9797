package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"

	"tutti/benchrunner"
	"tutti/internal/lazyregexp"
)

// OutputFile is the name of the file with the output of the script and of Slurm. It is in the folder of the
// job.
const OutputFile = "slurm.out"

func (s *Scheduler) arguments(sub benchrunner.Submission) []string {
	args := []string{
		"--parsable",
		"--job-name=" + sub.Name,
		"--chdir=" + sub.Dir,
		"--output=" + strings.ReplaceAll(filepath.Join(sub.Dir, OutputFile), "%", "%%"),
		"--open-mode=append",
		"--input=/dev/null",
		"--export=ALL",     // passes the variables that jobEnv returns
		"--propagate=NONE", // applies the limits of the nodes instead of those of tutti's machine
		"--no-requeue",
		"--nodes=" + strconv.Itoa(sub.Nodes),
		"--ntasks=" + strconv.Itoa(sub.Nodes*sub.PPN),
		"--ntasks-per-node=" + strconv.Itoa(sub.PPN),
		"--time=" + strconv.Itoa(minutes(sub.Limit)),
	}
	args = append(args, s.options.NamedArguments()...)
	if s.options.Exclusive {
		args = append(args, "--exclusive")
	}
	args = append(args, s.options.Directives...)
	return append(args, sub.Script)
}

func minutes(d time.Duration) int {
	return int((d + time.Minute - 1) / time.Minute)
}

// Show returns the call of sbatch, quoted for a shell.
func (s *Scheduler) Show(sub benchrunner.Submission) string {
	return shellescape.QuoteCommand(append([]string{"sbatch"}, s.arguments(sub)...))
}

// CheckFolder returns an error that matches benchrunner.ErrRejected if Slurm cannot write output into a folder.
func CheckFolder(dir string) error {
	if strings.ContainsAny(dir, "\\\n") {
		return fmt.Errorf("folder %q %w: Slurm writes no output below a backslash or line feed", dir, benchrunner.ErrRejected)
	}
	return nil
}

// Submit implements benchrunner.Scheduler. It makes one attempt. If the answer is unknown, it looks for the job's name
// before it returns benchrunner.ErrRejected.
func (s *Scheduler) Submit(ctx context.Context, sub benchrunner.Submission) (string, error) {
	if err := CheckFolder(sub.Dir); err != nil {
		return "", fmt.Errorf("job %s: %w", sub.Name, err)
	}
	if _, err := os.Stat(sub.Dir); err != nil {
		return "", fmt.Errorf("job %s: %w", sub.Name, err)
	}
	out, err := s.run(ctx, command{Name: "sbatch", Args: s.arguments(sub), Env: jobEnv(os.Environ()), Dir: sub.Dir, Limit: s.block})
	var f *failure
	switch {
	case err == nil:
		if id, ok := parseID(out); ok {
			return id, nil
		}
		err = fmt.Errorf("sbatch printed no job id: %.200q", out)
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.As(err, &f):
		cause := submitCause(f, out)
		if cause == benchrunner.SubmitUnknown && f.Code >= 0 {
			id, found, findErr := s.Find(ctx, sub)
			switch {
			case findErr == nil && found:
				return id, nil
			case findErr == nil:
				cause = benchrunner.Refused
			}
		}
		if cause == benchrunner.Refused {
			return "", fmt.Errorf("job %s %w: %w", sub.Name, benchrunner.ErrRejected, err)
		}
	}
	return "", fmt.Errorf("job %s: %w: %w", sub.Name, benchrunner.ErrUnavailable, err)
}

var parsableID = lazyregexp.New(`^([0-9]+)(;[^;\s]+)?$`)

// parseID returns the job ID from the output of sbatch --parsable. It takes the last line that is an ID,
// because sbatch prints further lines at some sites.
func parseID(stdout string) (string, bool) {
	id := ""
	for line := range strings.Lines(stdout) {
		if m := parsableID.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			id = m[1]
		}
	}
	return id, id != ""
}
