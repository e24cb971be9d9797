package selection

import (
	"fmt"

	"github.com/google/renameio/v2"
)

// WriteFile puts a whole file in place at once, readable by all: a reader finds
// the old file or the new one, never a part. A half-written selection file stops
// every job that loads it.
func WriteFile(path string, content []byte) error {
	if err := renameio.WriteFile(path, content, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
