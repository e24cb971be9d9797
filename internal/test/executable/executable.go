// Package executable writes programs that tests run.
package executable

import (
	"os"
	"path/filepath"
	"syscall"
)

// Write makes a file that can be run of text, in place of one that is there, and the
// folders above it. A program that is open for writing cannot be run ("text file busy"),
// and a child that is started beside holds what is open until it runs its own program:
// none is started meanwhile. What runs the old file keeps it.
func Write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path+".new", []byte(text), 0o777); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
