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

// readFile returns a file and whether it is there. The error matches
// benchrunner.ErrUnavailable: what the file would tell is not known, and may be known
// later.
func readFile(path string) (text []byte, found bool, err error) {
	text, err = os.ReadFile(path)
	return text, err == nil, unknown(err)
}

// modTime is when a file was written, zero when it is not there. The error is that of
// readFile.
func modTime(dir, name string) (time.Time, error) {
	stat, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		return time.Time{}, unknown(err)
	}
	return stat.ModTime(), nil
}

// unknown makes no error of one that says that there is no such file, or no such
// process any more.
func unknown(err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return fmt.Errorf("%w: %w", benchrunner.ErrUnavailable, err)
}
