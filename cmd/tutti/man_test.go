package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/internal/testutil"
)

// TestMan checks that every command has a manual page, and that tables keep their lines.
func TestMan(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "0")
	dir := filepath.Join(t.TempDir(), "man1")
	root := rootCommand(&app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}})
	root.SetArgs([]string{"man", dir})
	testutil.NoError(t, root.Execute())
	for _, name := range []string{"tutti.1", "tutti-tune.1", "tutti-rules-check.1", "tutti-topology-slow.1"} {
		text := string(testutil.Must(os.ReadFile(filepath.Join(dir, name)))(t))
		if !strings.Contains(text, "Jan 1970") || !strings.Contains(text, "tutti "+version) {
			t.Errorf("%s has another date or version:\n%.200s", name, text)
		}
		if name == "tutti.1" && !strings.Contains(text, "\n   2  wrong flags or arguments\n") {
			t.Errorf("the table of exit codes is no literal text:\n%s", text)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "tutti-man.1")); err == nil {
		t.Error("the hidden command has a page")
	}
}
