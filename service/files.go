package service

import (
	"cmp"
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

// File describes a file in a campaign's results folder that can be downloaded.
type File struct {
	Name string `json:"name"` // path below the results folder
	Size int64  `json:"size"`
	Type string `json:"type"` // media type
	// Private is true for files that may contain secrets. Only users with the role "operate" may download
	// them.
	Private bool `json:"private,omitempty"`
}

// Files returns the files of a campaign that can be downloaded, sorted by name. These are the regular files
// in the results folder, except locks and temporary files. Before the campaign starts the list is empty.
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
			return nil // removed since ReadDir
		case err != nil:
			return err
		case d.IsDir() && strings.Count(name, "/") >= maxDepth:
			return fs.SkipDir
		case !d.Type().IsRegular() || !isDownloadable(name):
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

// maxDepth is the number of folder levels below the results folder that Files lists. Selection files are
// within this depth. Most files of jobs are deeper.
const maxDepth = 2

// Open opens a file that Files lists. It never opens a file outside of the results folder, whatever the
// name or a symbolic link says. The error matches ErrNoFile.
func (s *Service) Open(id, name string) (io.ReadSeekCloser, File, error) {
	root, err := s.openResults(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, File{}, fmt.Errorf("%w: %q", ErrNoFile, name)
	}
	if err != nil {
		return nil, File{}, err
	}
	defer root.Close()
	if !fs.ValidPath(name) || !isDownloadable(name) || strings.Count(name, "/") > maxDepth {
		return nil, File{}, fmt.Errorf("%w: %q", ErrNoFile, name)
	}
	// The file must be regular: opening a named pipe would block.
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
	dir, err := s.resultsOf(id)
	if err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

func (s *Service) file(name string, info fs.FileInfo) File {
	return File{Name: name, Size: info.Size(), Type: MediaType(name), Private: !s.isReadable(name)}
}

// isReadable reports whether users with the role "read" may download a file.
func (s *Service) isReadable(name string) bool {
	return slices.ContainsFunc(s.opt.Readable, func(pattern string) bool {
		match, err := path.Match(pattern, name)
		return err == nil && match
	})
}

func isDownloadable(name string) bool {
	base := path.Base(name)
	return !strings.HasPrefix(base, ".") && !strings.HasPrefix(base, journal.LockName) && !strings.HasSuffix(base, ".new")
}

// mediaTypes has the media types of the files that tutti writes and of its page, because the MIME tables of
// operating systems differ.
var mediaTypes = map[string]string{
	".json": "application/json", ".jsonl": "application/jsonl", ".csv": "text/csv; charset=utf-8", ".html": "text/html; charset=utf-8",
	".rules": plainText, ".txt": plainText, ".env": plainText, ".sh": plainText, ".conf": plainText, "": plainText,
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".LICENSE": plainText,
}

const plainText = "text/plain; charset=utf-8"

// MediaType returns the media type of a file, such as text/csv. It depends on the extension of the name.
func MediaType(name string) string {
	ext := path.Ext(name)
	return cmp.Or(mediaTypes[ext], mime.TypeByExtension(ext), "application/octet-stream")
}
