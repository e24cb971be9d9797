package slurm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/internal/testutil"
)

// fake returns a scheduler whose commands are shell scripts in the folder dir. The file dir/calls has one
// line for each call. The scripts may use the variable dir.
func fake(t *testing.T, scripts map[string]string) (s *Scheduler, dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, body := range scripts {
		text := "#!/bin/sh\ndir=" + dir + "\necho \"${0##*/} $*\" >>$dir/calls\n" + body + "\n"
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	s = testutil.Must(New(Options{Bin: dir}))(t)
	s.now = func() time.Time { return time.Unix(1_800_000_000, 0) }
	return s, dir
}

func calls(t *testing.T, dir, command string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, command+" ") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	return got
}

func job(t *testing.T, name, body string) benchrunner.Submission {
	t.Helper()
	dir := t.TempDir()
	script := filepath.Join(dir, "job.sh")
	testutil.NoError(t, os.WriteFile(script, []byte("#!/bin/bash\n"+body+"\n"), 0o755))
	return benchrunner.Submission{Name: name, Dir: dir, Script: script, Nodes: 1, PPN: 1, Limit: 2 * time.Minute}
}

func columns(fields ...string) string { return strings.Join(fields, separator) + "\n" }
