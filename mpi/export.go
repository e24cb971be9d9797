package mpi

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/selection"
)

// Export holds the files and settings with which a library follows a selection.
type Export struct {
	Files   []File
	Setup   selection.Setup
	Snippet string // name of the POSIX shell file that sets Setup

	// Stale lists patterns (see path.Match) of files that an earlier export may have left. The files of a
	// folder come before the folder.
	Stale []string
}

// File is a file that the library loads. Its name is relative to the folder of the export and contains
// slashes as separators.
type File struct {
	Name    string
	Content []byte
}

// Loaded returns the content of the file that an environment variable names in jobs of a layout. It returns
// nil if these jobs do not set the variable. For the zero layout, it returns the file for jobs of layouts
// without their own settings.
func (x Export) Loaded(l coll.Layout, variable string) []byte {
	for _, s := range x.Setup.For(l) {
		for _, f := range x.Files {
			if s.Name == variable && strings.HasSuffix(filepath.ToSlash(s.Value), "/"+f.Name) {
				return f.Content
			}
		}
	}
	return nil
}

// Names returns the names of the files that Write creates: files in the folder itself, then the shell file
// (Snippet), then files in subfolders.
func (x Export) Names() []string {
	var here, below []string
	for _, f := range x.Files {
		if filepath.Dir(f.Name) == "." {
			here = append(here, f.Name)
		} else {
			below = append(below, f.Name)
		}
	}
	return slices.Concat(here, []string{x.Snippet}, below)
}

// Write writes the files into an existing folder, each atomically. It then writes the shell file. Finally, it
// removes stale files of an earlier export.
func (x Export) Write(dir string) error {
	snippet, err := x.Setup.Shell()
	if err != nil {
		return fmt.Errorf("%s: %w", x.Snippet, err)
	}
	for _, f := range append(slices.Clone(x.Files), File{x.Snippet, snippet}) {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if below := filepath.Dir(path); below != filepath.Clean(dir) {
			if err := os.Mkdir(below, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
		if err := selection.WriteFile(path, f.Content); err != nil {
			return err
		}
	}
	return x.removeStale(dir)
}

func (x Export) removeStale(dir string) error {
	needed := x.Names()
	for _, pattern := range x.Stale {
		found, err := fs.Glob(os.DirFS(dir), pattern)
		if err != nil {
			return fmt.Errorf("%s: %w", pattern, err)
		}
		for _, name := range found {
			if slices.Contains(needed, name) {
				continue
			}
			// A folder that contains other files is not removed: Remove returns ErrExist.
			err := os.Remove(filepath.Join(dir, filepath.FromSlash(name)))
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
	}
	return nil
}
