package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestExportIntoTwoLines: a folder that no settings can name is a matter of the flag.
func TestExportIntoTwoLines(t *testing.T) {
	_, stderr := mustTutti(t, codeUsage, "export", reference(t), "--for", "openmpi", "--out", filepath.Join(t.TempDir(), "two\nlines"))
	if !strings.Contains(stderr, "control characters") {
		t.Errorf("stderr %q", stderr)
	}
}
