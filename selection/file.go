package selection

import (
	"fmt"
	"strings"

	"github.com/google/renameio/v2"
)

// Setting is one environment variable that makes a library obey a file.
type Setting struct{ Name, Value string }

// EnvFile returns settings as a file for a POSIX shell to source. Values may hold
// any character but NUL.
func EnvFile(settings []Setting) []byte {
	var b strings.Builder
	for _, s := range settings {
		fmt.Fprintf(&b, "export %s='%s'\n", s.Name, strings.ReplaceAll(s.Value, "'", `'\''`))
	}
	return []byte(b.String())
}

// WriteFile puts a whole file in place at once, readable by all: a reader finds
// the old file or the new one, never a part. A half-written selection file stops
// every job that loads it.
func WriteFile(path string, content []byte) error {
	if err := renameio.WriteFile(path, content, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
