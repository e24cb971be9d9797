package service

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"os"
	"path"
	"slices"
	"strings"

	"tutti/journal"
)

// Files returns what can be downloaded of a campaign: the regular files of its
// results folder and of the folders below it, by name. Locks and files that are
// being written are left out. None before it has begun.
func (s *Service) Files(id string) ([]File, error) {
	root, err := s.openResults(id)
	if errors.Is(err, fs.ErrNotExist) {
		return []File{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	out := []File{}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // gone since it was listed
		case err != nil:
			return err
		case d.IsDir() && strings.Count(name, "/") >= maxDepth:
			return fs.SkipDir
		case !d.Type().IsRegular() || !downloadable(name):
			return nil
		}
		if info, err := d.Info(); err == nil {
			out = append(out, s.file(name, info))
		}
		return nil
	})
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

// maxDepth of the folders that are listed: the folders of jobs lie deeper than
// the files of selections.
const maxDepth = 2

// Open opens a file that Files lists, by its name there. It never leaves the
// results folder, whatever the name or a link says. The error matches ErrNoFile.
func (s *Service) Open(id, name string) (io.ReadSeekCloser, File, error) {
	root, err := s.openResults(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, File{}, fmt.Errorf("%w: %q", ErrNoFile, name)
	}
	if err != nil {
		return nil, File{}, err
	}
	defer root.Close()
	if !fs.ValidPath(name) || !downloadable(name) || strings.Count(name, "/") > maxDepth {
		return nil, File{}, fmt.Errorf("%w: %q", ErrNoFile, name)
	}
	// A file that was replaced by a pipe must not be opened: it would wait for ever.
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil, File{}, fmt.Errorf("%w: %q", ErrNoFile, name)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, File{}, fmt.Errorf("%w: %q", ErrNoFile, name)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, File{}, errors.Join(err, f.Close())
	}
	return f, s.file(name, info), nil
}

func (s *Service) openResults(id string) (*os.Root, error) {
	s.mu.Lock()
	e, err := s.entry(id)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return os.OpenRoot(e.results())
}

func (s *Service) file(name string, info fs.FileInfo) File {
	return File{Name: name, Size: info.Size(), Type: mediaType(name), Private: !s.shown(name)}
}

// shown reports a file that those may read who may only look.
func (s *Service) shown(name string) bool {
	return slices.ContainsFunc(s.opt.Shown, func(pattern string) bool {
		match, err := path.Match(pattern, name)
		return err == nil && match
	})
}

func downloadable(name string) bool {
	base := path.Base(name)
	return !strings.HasPrefix(base, ".") && !strings.HasPrefix(base, journal.LockName) && !strings.HasSuffix(base, ".new")
}

// mediaType is fixed for what tutti writes: the tables of the system differ.
func mediaType(name string) string {
	switch ext := path.Ext(name); ext {
	case ".json":
		return "application/json"
	case ".jsonl":
		return "application/jsonl"
	case ".csv":
		return "text/csv; charset=utf-8"
	case ".html":
		return "text/html; charset=utf-8"
	case ".rules", ".txt", ".env", ".sh", ".conf", "":
		return "text/plain; charset=utf-8"
	default:
		if t := mime.TypeByExtension(ext); t != "" {
			return t
		}
		return "application/octet-stream"
	}
}
