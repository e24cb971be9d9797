package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/report"
)

// notRun lists the commands in the README that TestREADME skips, because they build something or need the
// repository.
var notRun = []string{"make", "git", "cd"}

// console is a command of the README with the output shown below it.
type console struct {
	line    int
	command string
	lines   []string
}

// TestREADME runs the tutti commands in the README's console blocks, in one folder with configs and data.
// Each command must succeed and print the lines that the README shows, in the same order. Dates may differ,
// and a line of three dots stands for any number of lines.
func TestREADME(t *testing.T) {
	readme := readFile(t, "../../README.md")
	dir := t.TempDir()
	testutil.NoError(t, os.CopyFS(filepath.Join(dir, "configs"), os.DirFS("../../configs")))
	testutil.NoError(t, os.Mkdir(filepath.Join(dir, "data"), 0o777))
	testutil.NoError(t, os.Symlink(campaigntest.Recorded(t), filepath.Join(dir, "data", "simgrid")))
	commands := consoles(string(readme))
	if len(commands) == 0 {
		t.Fatal("no commands found")
	}
	for _, c := range commands {
		name, _, _ := strings.Cut(c.command, " ")
		switch {
		case slices.Contains(notRun, name):
			continue
		case name != "tutti":
			t.Errorf("README.md:%d: %q is neither run nor among %v", c.line, c.command, notRun)
			continue
		}
		var stdout, stderr bytes.Buffer
		cmd := exec.Command("sh", "-c", c.command)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("README.md:%d: %s: %v\n%s%s", c.line, c.command, err, &stdout, &stderr)
		}
		if missing, ok := firstMissing(c.lines, stdout.String()); !ok {
			t.Errorf("README.md:%d: %s: the README shows\n%s\nwhich does not come there in\n%s", c.line, c.command, missing, &stdout)
		}
	}
}

// TestREADMEDemo compares the table in the README with the report of make demo. It runs only if
// REQUIRE_DEMO is 1, because the demo takes minutes.
func TestREADMEDemo(t *testing.T) {
	if os.Getenv("REQUIRE_DEMO") != "1" {
		t.Skip("make demo, then REQUIRE_DEMO=1 go test -run READMEDemo ./cmd/tutti")
	}
	var facts report.Facts
	testutil.NoError(t, json.Unmarshal(readFile(t, "../../results/demo/report.json"), &facts))
	var summary bytes.Buffer
	testutil.NoError(t, report.WriteSummary(&summary, facts))
	commands := consoles(string(readFile(t, "../../README.md")))
	demo := slices.IndexFunc(commands, func(c console) bool { return c.command == "make demo" })
	if demo < 0 {
		t.Fatal("the README has no make demo")
	}
	lines := strings.Join(commands[demo].lines, "\n")
	if !strings.HasPrefix(lines, summary.String()) {
		t.Errorf("the README shows\n%s\nwhere make demo has\n%s", lines, &summary)
	}
}

// consoles returns the commands in the console blocks of a document.
func consoles(readme string) []console {
	var found []console
	inside := false
	for i, line := range strings.Split(readme, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = !inside && strings.TrimSpace(line) == "```console"
		case !inside:
		case strings.HasPrefix(line, "$ "):
			found = append(found, console{line: i + 1, command: strings.TrimPrefix(line, "$ ")})
		case len(found) > 0:
			last := &found[len(found)-1]
			last.lines = append(last.lines, line)
		}
	}
	return found
}

// firstMissing returns the first wanted line that the output does not contain, and false. The lines must
// have the same order. The wanted lines may skip output only at a line of three dots, and at the end.
func firstMissing(wanted []string, output string) (string, bool) {
	lines := strings.Split(output, "\n")
	skipping := false
	for _, want := range wanted {
		if strings.TrimSpace(want) == "..." {
			skipping = true
			continue
		}
		at := slices.Index(lines, want)
		if at < 0 || at > 0 && !skipping {
			return want, false
		}
		lines, skipping = lines[at+1:], false
	}
	return "", true
}

func TestFirstMissing(t *testing.T) {
	const output = "a\nb\nc\n"
	tests := []struct {
		name  string
		lines []string
		want  string
		ok    bool
	}{
		{"nothing shown", nil, "", true},
		{"all", []string{"a", "b", "c"}, "", true},
		{"beginning only", []string{"a"}, "", true},
		{"dots", []string{"...", "c"}, "", true},
		{"left out without dots", []string{"a", "c"}, "c", false},
		{"not there", []string{"a", "...", "d"}, "d", false},
		{"other order", []string{"...", "c", "a"}, "a", false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got, ok := firstMissing(tc.lines, output); got != tc.want || ok != tc.ok {
				t.Errorf("firstMissing = %q, %v, want %q, %v", got, ok, tc.want, tc.ok)
			}
		})
	}
}
