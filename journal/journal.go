package journal

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Journal is a journal that is open for writing. It is safe for concurrent use.
type Journal struct {
	// Now returns the time for records whose Time is zero. Create and Open set it to time.Now. Replace it
	// before the first Append to get reproducible files.
	Now func() time.Time

	mu     sync.Mutex
	path   string
	file   file
	size   int64 // length of the complete lines in bytes
	lock   *lock
	broken error // why records cannot be appended; nil if they can
}

// file contains the methods of os.File that the journal needs for writing.
type file interface {
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Stat() (os.FileInfo, error)
	Close() error
}

// NewID returns a random ID of 40 bits for a new campaign.
func NewID() string { return strings.ToLower(rand.Text()[:8]) }

// Create creates the journal in the folder `dir` and locks it. It also creates the folder if necessary. It
// sets the header's field Schema, the field Created if it is zero, and the field ID if it is empty. When
// Create returns, the header is on disk. A crash before leaves no journal.
//
// The error matches ErrExists if the folder has a journal, and ErrLocked if another process is creating
// one.
func Create(dir string, h Header) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	path := filepath.Join(dir, FileName)
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%s: %w", path, ErrExists)
	}
	lock, err := acquire(filepath.Join(dir, LockName))
	if err != nil {
		return nil, err
	}
	j, err := create(path, h)
	if err != nil {
		return nil, errors.Join(err, lock.release())
	}
	j.lock = lock
	return j, nil
}

func create(path string, h Header) (*Journal, error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%s: %w", path, ErrExists)
	}
	h.Schema = Schema
	if h.Created.IsZero() {
		h.Created = time.Now()
	}
	h.Created = h.Created.UTC().Round(0)
	if h.ID == "" {
		h.ID = NewID()
	}
	line, err := encode(headerLine{Kind: KindHeader, Header: h})
	if err != nil {
		return nil, fmt.Errorf("journal header: %w", err)
	}
	// The file gets the name of the journal only when the header is complete.
	temp, mode := path+".new", os.FileMode(0o644)
	if h.Private {
		mode = 0o600
	}
	if err := writeSynced(temp, line, os.O_TRUNC, mode); err != nil {
		return nil, err
	}
	if err := os.Rename(temp, path); err != nil {
		return nil, errors.Join(err, ignoreMissing(os.Remove(temp)))
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return &Journal{Now: time.Now, path: path, file: f, size: int64(len(line))}, nil
}

// Open locks and reads the journal in the folder `dir`. It returns the journal for further records. It
// removes an incomplete last line from the file and reports this in Contents.Warnings.
//
// The error matches ErrLocked if another process has locked the journal. Other errors are those of Read.
func Open(dir string) (*Journal, *Contents, error) {
	readable, err := openFile(dir)
	if err != nil {
		return nil, nil, err
	}
	readable.Close()
	lock, err := acquire(filepath.Join(dir, LockName))
	if err != nil {
		return nil, nil, err
	}
	j, contents, err := open(readable.Name())
	if err != nil {
		return nil, nil, errors.Join(err, lock.release())
	}
	j.lock = lock
	return j, contents, nil
}

func open(path string) (*Journal, *Contents, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	contents, err := read(f, path)
	if err == nil && len(contents.Warnings) > 0 {
		err = errors.Join(f.Truncate(contents.size), f.Sync())
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return &Journal{Now: time.Now, path: path, file: f, size: contents.size}, contents, nil
}

// Append writes the records with one write and one fsync. When it returns nil, all of them are on disk. A
// record with a zero Time gets the time that the function Now returns.
//
// If Append fails, none of the records is in the journal, because the file is truncated to its last
// complete record. If the disk was full, Append may be called again. After a failed fsync or a failed
// truncation, the state of the disk is unknown. The journal then refuses further records, and Open reads
// what is on disk. The error matches ErrLocked if the lock was removed.
func (j *Journal) Append(recs ...Record) error {
	if len(recs) == 0 {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return fmt.Errorf("append to %s: %w", j.path, j.broken)
	}
	lines, err := j.encodeGroup(recs)
	if err != nil {
		return fmt.Errorf("append to %s: %w", j.path, err)
	}
	if err := j.checkAlone(); err != nil {
		if errors.Is(err, ErrLocked) {
			j.broken = err
		}
		return fmt.Errorf("append to %s: %w", j.path, err)
	}
	if _, err := j.file.WriteAt(lines, j.size); err != nil {
		return fmt.Errorf("append to %s: %w", j.path, j.cutBack(err))
	}
	if err := j.file.Sync(); err != nil {
		// A failed fsync is final: Linux may drop the dirty pages and report success for the next
		// fsync (Rebello et al., Can Applications Recover from fsync Failures?, USENIX ATC 2020).
		j.broken = fmt.Errorf("an earlier fsync failed, open the journal again: %w", err)
		return fmt.Errorf("append to %s: %w", j.path, j.cutBack(err))
	}
	j.size += int64(len(lines))
	return nil
}

// AppendTo appends records and adds them to the state of the journal, with the times that the file has.
func (j *Journal) AppendTo(s *State, recs ...Record) error {
	recs = slices.Clone(recs)
	for i := range recs {
		if recs[i].Time.IsZero() {
			recs[i].Time = j.Now().UTC().Round(0)
		}
	}
	if err := j.Append(recs...); err != nil {
		return err
	}
	for _, r := range recs {
		s.Add(r)
	}
	return nil
}

func (j *Journal) encodeGroup(recs []Record) ([]byte, error) {
	var lines []byte
	for i, r := range recs {
		if r.Time.IsZero() {
			r.Time = j.Now()
		}
		r.Time = r.Time.UTC().Round(0)
		if err := r.Validate(); err != nil {
			return nil, fmt.Errorf("record %d of %d: %w", i+1, len(recs), err)
		}
		line, err := encode(r)
		if err != nil {
			return nil, fmt.Errorf("record %d of %d (%s): %w", i+1, len(recs), r.Kind, err)
		}
		lines = append(lines, line...)
	}
	return lines, nil
}

// checkAlone returns an error if the lock was removed, or if another process has written to the journal.
func (j *Journal) checkAlone() error {
	if err := j.lock.check(); err != nil {
		return err
	}
	stat, err := j.file.Stat()
	if err != nil {
		return err
	}
	if stat.Size() != j.size {
		return fmt.Errorf("%w: the file has %d bytes, %d were written here", ErrLocked, stat.Size(), j.size)
	}
	return nil
}

// cutBack truncates the file to the size that it had before a failed write. It returns `cause`, the error of
// this write, and any error of the truncation.
func (j *Journal) cutBack(cause error) error {
	err := j.file.Truncate(j.size)
	if err == nil {
		return cause
	}
	j.broken = fmt.Errorf("a failed write could not be cut off, open the journal again: %w", err)
	return errors.Join(cause, j.broken)
}

// Close closes the journal and releases the lock. Later calls of Append fail, and later calls of Close do
// nothing.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lock == nil {
		return nil
	}
	err := errors.Join(j.file.Close(), j.lock.release())
	j.lock = nil
	j.broken = os.ErrClosed
	return err
}

// encode returns v as one line of JSON, including the newline.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	if buf.Len() > MaxLine {
		return nil, fmt.Errorf("line of %d bytes: want at most %d", buf.Len(), MaxLine)
	}
	return buf.Bytes(), nil
}

// writeSynced writes a file and waits until it is on disk. With os.O_EXCL a file of this name is an error, with
// os.O_TRUNC it is replaced.
func writeSynced(path string, contents []byte, flag int, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(contents)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
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
