package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"tutti/benchrunner"
	"tutti/campaign"
	"tutti/internal/config"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
)

func TestCodeOf(t *testing.T) {
	osError := func(err error) error {
		return fmt.Errorf("round 3: %w", &fs.PathError{Op: "write", Path: "journal.jsonl", Err: err})
	}
	tests := []struct {
		name string
		err  error
		want exitCode
	}{
		{"nothing", nil, codeDone},
		{"anything else", errors.New("no model"), codeFailed},
		{"wrong flag", withCode(codeUsage, errors.New("--bogus")), codeUsage},
		{"campaign file", fmt.Errorf("%w: 3 faults", config.ErrConfig), codeInput},
		{"journal damaged", fmt.Errorf("j:3: %w", journal.ErrCorrupt), codeInput},
		{"journal of another campaign", fmt.Errorf("round 2: %w", campaign.ErrLog), codeInput},
		{"journal not permitted", fmt.Errorf("%w: %w", journal.ErrUnreadable, osError(syscall.EACCES)), codeInput},
		{"journal of a newer tutti", journal.ErrSchema, codeInput},
		{"no such file", osError(syscall.ENOENT), codeInput},
		{"a file for a folder", osError(syscall.ENOTDIR), codeInput},
		{"a folder for a file", osError(syscall.EISDIR), codeInput},
		{"not converged", errors.Join(errNotConverged, nil), codeNotConverged},
		{"cancelled", errCancelled, codeCancelled},
		{"cancelled somewhere deep", fmt.Errorf("fold 2: %w", context.Canceled), codeCancelled},
		{"locked", fmt.Errorf("x: %w", journal.ErrLocked), codeBusy},
		{"journal exists", withOutputCode(fmt.Errorf("x: %w", journal.ErrExists)), codeBusy},
		{"disk full", osError(syscall.ENOSPC), codeOutput},
		{"quota", osError(syscall.EDQUOT), codeOutput},
		{"read-only", osError(syscall.EROFS), codeOutput},
		{"not permitted", osError(syscall.EACCES), codeOutput},
		{"results into nothing", withOutputCode(osError(syscall.ENOENT)), codeOutput},
		{"results below a file", withOutputCode(osError(syscall.ENOTDIR)), codeOutput},
		{"scheduler down", fmt.Errorf("round 2: %w", benchrunner.ErrUnavailable), codeInterrupted},
		{"processes that do not end", fmt.Errorf("round 2: %w: 17 sleep on n1", benchrunner.ErrLeft), codeInterrupted},
		{"results refused by a check", withOutputCode(errors.New("rule 3 is not followed")), codeFailed},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := codeOf(tc.err); got != tc.want {
				t.Errorf("codeOf(%v) = %d, want %d", tc.err, got, tc.want)
			}
		})
	}
}

// TestHelp checks that the help of every command fits terminalWidth and has examples, and that the flags and arguments
// in them and in the README are valid.
func TestHelp(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
		path := strings.Fields(cmd.CommandPath())[1:]
		stdout, stderr := mustTutti(t, codeDone, append(path, "--help")...)
		if stderr != "" || cmd.HasParent() && !strings.Contains(stdout, "Examples:\n"+cmd.Example+"\n") || cmd.Short == "" {
			t.Errorf("help of %v lacks an example:\n%s%s", path, stdout, stderr)
		}
		for line := range strings.Lines(stdout) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > terminalWidth && !slices.Contains(path, "completion") {
				t.Errorf("help of %v: %d columns: %s", path, n, line)
			}
		}
		for line := range strings.Lines(strings.ReplaceAll(cmd.Example, "\\\n", "")) {
			checkExample(t, strings.TrimSpace(line))
		}
	}
	visit(rootCommand(&app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}))
	for line := range strings.Lines(string(readFile(t, "../../README.md"))) {
		if strings.HasPrefix(line, "    tutti ") {
			example, _, _ := strings.Cut(line, " #")
			checkExample(t, example)
		}
	}
}

func checkExample(t *testing.T, line string) {
	command, _, _ := strings.Cut(line, " > ")
	words := strings.Fields(strings.TrimSuffix(strings.TrimPrefix(command, "source <("), ")"))
	if words[0] != "tutti" {
		t.Errorf("example %q does not run tutti", line)
		return
	}
	root := rootCommand(&app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}})
	cmd, rest, err := root.Find(words[1:])
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err != nil {
		t.Errorf("example %q: %v", line, err)
	}
}

// failingWriter is a standard output on a full disk.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestUnwritableStandardOutput(t *testing.T) {
	dir := t.TempDir()
	campaigntest.Small(t, dir)
	mustTutti(t, codeDone, "tune", "-c", dir+"/small.yaml")
	for _, args := range []string{
		"version", "version --format json", "help", "init - --runner local", "status OUT", "status OUT --format json", "report OUT",
		"report OUT --format json", "export OUT --out - --only measurements --for mpich", "export OUT --out - --only selection", "resume OUT", "completion bash",
	} {
		t.Run(args, func(t *testing.T) {
			var stderr bytes.Buffer
			words := strings.Fields(strings.ReplaceAll(args, "OUT", dir+"/out"))
			code := Main(t.Context(), words, nil, failingWriter{}, &stderr)
			if exitCode(code) != codeOutput || !strings.Contains(stderr.String(), "no space left") {
				t.Errorf("exit code %d, want %d\n%s", code, codeOutput, &stderr)
			}
		})
	}
}
