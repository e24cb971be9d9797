package journal

import (
	"errors"
	"io/fs"
	"os"
)

// writeSynced creates or replaces a file and waits until it is on disk.
func writeSynced(path string, contents []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(contents)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncDir waits until the entries of a folder are on disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
