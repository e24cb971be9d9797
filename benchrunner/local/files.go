package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"tutti/benchrunner"
)

// readFile returns the content of a file and whether the file exists. The error matches
// benchrunner.ErrUnavailable, because a later attempt may succeed.
func readFile(path string) (text []byte, found bool, err error) {
	text, err = os.ReadFile(path)
	return text, err == nil, unknown(err)
}

// modTime returns when a file was last written, zero if it does not exist. The error is
// that of readFile.
func modTime(dir, name string) (time.Time, error) {
	stat, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		return time.Time{}, unknown(err)
	}
	return stat.ModTime(), nil
}

// unknown returns nil for an error that says that a file or a process does not exist.
func unknown(err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return fmt.Errorf("%w: %w", benchrunner.ErrUnavailable, err)
}
