package pbs

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"

	"tutti/benchrunner"
	"tutti/internal/lazyregexp"
)

// Files in the folder of a job.
const (
	outputFile = "pbs.out" // output of the script and of PBS
	scriptFile = "pbs.sh"  // what PBS runs; it starts the job's script
)

//go:embed job.sh
var startText string

// arguments returns the arguments of qsub.
func (s *Scheduler) arguments(sub benchrunner.Submission) []string {
	chunk := fmt.Sprintf("select=%d:ncpus=%d:mpiprocs=%[2]d", sub.Nodes, sub.PPN)
	if s.options.Chunk != "" {
		chunk += ":" + s.options.Chunk
	}
	args := []string{
		"-f",     // otherwise qsub leaves a process that submits later jobs
		"-C", "", // no directives in the script
		"-N", sub.Name,
		"-o", outputPath(sub), "-j", "oe", "-k", "doe", // written at once
		"-r", "n", "-m", "n", "-W", "umask=022",
		"-l", chunk, "-l", "place=" + s.options.Place,
	}
	if sub.Limit > 0 {
		args = append(args, "-l", "walltime="+strconv.Itoa(int((sub.Limit+time.Second-1)/time.Second)))
	}
	for _, r := range s.options.Resources {
		args = append(args, "-l", r)
	}
	if s.options.Queue != "" {
		args = append(args, "-q", s.options.Queue)
	}
	if s.options.Account != "" {
		args = append(args, "-A", s.options.Account)
	}
	return append(args, filepath.Join(sub.Dir, scriptFile))
}

// outputPath returns the value of qsub's option -o. qsub refuses an absolute path with letters outside of ASCII, but
// not a relative one.
func outputPath(sub benchrunner.Submission) string {
	if strings.ContainsFunc(sub.Dir, func(r rune) bool { return r > '~' }) {
		return outputFile
	}
	return filepath.Join(sub.Dir, outputFile)
}

// Show returns the call of qsub, quoted for a shell.
func (s *Scheduler) Show(sub benchrunner.Submission) string {
	return shellescape.QuoteCommand(append([]string{"qsub"}, s.arguments(sub)...))
}

// Submit implements benchrunner.Scheduler. It writes the script that PBS runs and makes one attempt.
func (s *Scheduler) Submit(ctx context.Context, sub benchrunner.Submission) (string, error) {
	text := fmt.Sprintf("#!/bin/bash\ncd -- %s || exit 1\n%s\nexec bash %s\n", shellescape.Quote(sub.Dir), strings.TrimSpace(startText+benchrunner.RemoteShell), shellescape.Quote(sub.Script))
	if err := os.WriteFile(filepath.Join(sub.Dir, scriptFile), []byte(text), 0o777); err != nil {
		return "", fmt.Errorf("job %s: %w", sub.Name, err)
	}
	out, _, err := s.run(ctx, sub.Dir, "qsub", s.arguments(sub)...)
	var f *failure
	switch {
	case err == nil:
		if id := parseID(out); id != "" {
			return id, nil
		}
		err = fmt.Errorf("qsub printed no job id: %.200q", out)
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.As(err, &f) && rejects(f):
		return "", fmt.Errorf("job %s %w: %w", sub.Name, benchrunner.ErrRejected, err)
	}
	return "", fmt.Errorf("job %s: %w: %w", sub.Name, benchrunner.ErrUnavailable, err)
}

var idForm = lazyregexp.New(`^[0-9]+(\.[A-Za-z0-9._-]+)?$`)

// parseID returns the ID in the output of qsub: the last line that is one, because sites print further lines.
func parseID(stdout string) string {
	id := ""
	for line := range strings.Lines(stdout) {
		if line = strings.TrimSpace(line); idForm.MatchString(line) {
			id = line
		}
	}
	return id
}

// Exit codes of the commands: the error numbers of include/pbs_error.h of OpenPBS, modulo 256.
var (
	// of qsub, after which a later attempt may succeed: limit of the user, no connection, credential, queue not
	// enabled, end of message
	temporary = []int{38, 162, 171, 173, 183}
	unknown   = []int{153}               // of qstat: no such job
	over      = []int{35, 153, 168, 170} // of qdel: the job has ended, is unknown or is in no state to be deleted
)

// rejects reports whether qsub's failure means that PBS can never accept the job. Hooks of a site use any exit code,
// so a text about the connection is temporary, too.
func rejects(f *failure) bool {
	if f.Code < 0 || slices.Contains(temporary, f.Code) {
		return false
	}
	text := strings.ToLower(f.Message)
	return !slices.ContainsFunc([]string{"connect", "timed out", "timeout", "try again", "reserved ports", "errno=150"}, func(t string) bool { return strings.Contains(text, t) })
}
