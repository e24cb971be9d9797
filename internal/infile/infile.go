// Package infile opens files that users name or that other programs write. For a named pipe, a device or a
// folder it returns an error without reading, because reading might never end.
//
//	text, err := infile.Read("tutti.table", 1<<20)
//	if errors.Is(err, infile.ErrKind) {
//		return fmt.Errorf("table: %w", err)
//	}
package infile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"syscall"

	"tutti/coll"
)

// NoLimit is the argument for reading files of any size.
const NoLimit = math.MaxInt64

// ErrKind is matched by errors about files that are not regular. ErrSize is matched by errors about files
// above a limit.
var (
	ErrKind = errors.New("want a regular file")
	ErrSize = errors.New("too large")
)

// Open opens a regular file of at most `limit` bytes for reading. It follows links.
func Open(path string, limit int64) (*os.File, error) { return open(path, limit, 0) }

// OpenUnlinked is Open for folders in which other users can write: for a link, its error matches ErrKind.
func OpenUnlinked(path string, limit int64) (*os.File, error) {
	f, err := open(path, limit, syscall.O_NOFOLLOW)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s: a link: %w", path, ErrKind)
	}
	return f, err
}

// open opens a regular file. For a named pipe it returns an error instead of waiting for a writer.
func open(path string, limit int64, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|flags, 0)
	if err != nil {
		return nil, err
	}
	about, err := f.Stat()
	switch {
	case err != nil:
	case !about.Mode().IsRegular():
		err = fmt.Errorf("%s: %w", path, ErrKind)
	case about.Size() > limit:
		err = fmt.Errorf("%s: %w: larger than %s", path, ErrSize, coll.FormatBytes(limit))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Resolve returns the path to which links in a path lead, or the path itself if they lead nowhere.
func Resolve(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// Read returns the content of a regular file of at most `limit` bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

const byteOrderMark = "\ufeff"

// SkipByteOrderMark returns a reader of r that skips a byte order mark at the start, as some editors write it.
func SkipByteOrderMark(r io.Reader) *bufio.Reader {
	out := bufio.NewReader(r)
	if start, _ := out.Peek(len(byteOrderMark)); string(start) == byteOrderMark {
		_, _ = out.Discard(len(byteOrderMark)) // buffered by Peek
	}
	return out
}
