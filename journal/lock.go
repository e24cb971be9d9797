package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"

	"tutti/internal/infile"
)

// LockName is the name of the lock file next to the journal. The file exists while a process may
// write.
const LockName = "journal.lock"

// maxTakeover limits how many locks a process may hold, one nested in another. To remove the lock of a dead
// process, a process takes a second lock. It needs a third one only if another process died during such a removal.
const maxTakeover = 3

// lock is a lock file that this process created.
type lock struct {
	path string
	me   Process
}

// Lock creates a lock file at `path`, of the kind that locks the journal. It returns a function that removes the
// file. The error matches ErrLocked if another process has the lock.
func Lock(path string) (release func() error, err error) {
	l, err := acquire(path)
	if err != nil {
		return nil, err
	}
	return l.release, nil
}

// acquire creates a lock file. If there is one whose process has certainly ended, acquire replaces it. For
// any other lock, it returns an error that matches ErrLocked and names the process.
func acquire(path string) (*lock, error) {
	me, err := self()
	if err != nil {
		return nil, err
	}
	return acquireAs(me, path, 0)
}

func acquireAs(me Process, path string, depth int) (*lock, error) {
	for range 2 { // the second attempt is made after a dead process's lock was removed
		err := writeLock(path, me)
		if err == nil {
			return &lock{path: path, me: me}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		holder, err := readLock(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the lock was released meanwhile
		}
		if err != nil {
			return nil, err
		}
		if !holder.surelyDead(me) || depth >= maxTakeover {
			return nil, lockedError(path, holder)
		}
		if err := removeDead(path, holder, me, depth); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: %s changes hands too quickly, try again", ErrLocked, path)
}

// Activity says whether a process has a journal open for writing: Running, Stopped or Dead.
type Activity string

const (
	Running Activity = "running"
	Stopped Activity = "stopped"
	Dead    Activity = "dead" // the process has ended without releasing its lock
)

// ActivityIn returns the activity of the journal in the folder `dir`, and a text about the process that has the
// lock. A process on another machine counts as running.
func ActivityIn(dir string) (a Activity, process string, err error) {
	writer, err := Writer(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Stopped, "", nil
	case err != nil:
		return "", "", err
	case writer.Gone():
		return Dead, writer.String(), nil
	}
	return Running, writer.String(), nil
}

// removeDead removes the lock of a process that has ended. Two processes may find the same old lock at the
// same time. The second one must not remove the new lock that the first one has created. Each therefore takes
// another lock, named after the old one, and then checks the old lock again.
func removeDead(path string, dead, me Process, depth int) error {
	guard, err := acquireAs(me, path+"."+dead.Nonce, depth+1)
	if err != nil {
		return err
	}
	now, err := readLock(path)
	if err == nil && now.Nonce == dead.Nonce {
		err = os.Remove(path)
	}
	return errors.Join(ignoreMissing(err), guard.release())
}

// lockedError returns an error that names the process that has a lock, and says how to remove the lock.
func lockedError(path string, holder Process) error {
	return fmt.Errorf("%w: %v; if that process is gone for certain, remove %s", ErrLocked, holder, path)
}

// writeLock creates the lock file with its contents in one step. If the file exists, the error matches
// fs.ErrExist.
//
// It writes the contents to a temporary file and links this file to path. On every file system, link(2)
// fails if path exists. Over NFS, link(2) may report an error although it succeeded; then the number of
// links shows the success (open(2), O_EXCL). On file systems without hard links, the file is created with
// O_EXCL.
func writeLock(path string, me Process) error {
	contents, err := encode(me)
	if err != nil {
		return err
	}
	temp := fmt.Sprintf("%s.new.%s", path, me.Nonce)
	if err := writeSynced(temp, contents, os.O_EXCL, 0o644); err != nil {
		return err
	}
	linkErr := os.Link(temp, path)
	if linkErr != nil && sameFile(temp, path) {
		linkErr = nil
	}
	if err := os.Remove(temp); err != nil {
		return errors.Join(linkErr, err)
	}
	if linkErr == nil || errors.Is(linkErr, fs.ErrExist) || !noHardLinks(linkErr) {
		return linkErr
	}
	return writeSynced(path, contents, os.O_EXCL, 0o644)
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

func noHardLinks(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission)
}

// descriptorPatience is the time for which readLock waits for a free file descriptor.
const descriptorPatience = time.Minute

// maxLock limits the size of a lock file, in bytes.
const maxLock = 64 << 10

// readLock returns the process that has a lock. It waits if there is no free file descriptor.
func readLock(path string) (Process, error) {
	contents, err := backoff.Retry(context.Background(), func() ([]byte, error) {
		contents, err := infile.Read(path, maxLock)
		if err != nil && !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) {
			err = backoff.Permanent(err)
		}
		return contents, err
	}, backoff.WithMaxElapsedTime(descriptorPatience))
	if err != nil && !errors.Is(err, infile.ErrKind) && !errors.Is(err, infile.ErrSize) {
		return Process{}, err
	}
	var p Process
	if err := json.Unmarshal(contents, &p); err != nil || p.Nonce == "" || filepath.Base(p.Nonce) != p.Nonce {
		return Process{}, fmt.Errorf("%w: %s says nothing readable; if no process is using it, remove it", ErrLocked, path)
	}
	return p, nil
}

// check returns an error matching ErrLocked if another process has replaced or removed the lock
// file.
func (l *lock) check() error {
	holder, err := readLock(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: our lock %s was removed", ErrLocked, l.path)
	case err != nil:
		return err
	case holder.Nonce != l.me.Nonce:
		return lockedError(l.path, holder)
	}
	return nil
}

// release removes the lock file unless another process has replaced it.
func (l *lock) release() error {
	if err := l.check(); err != nil {
		return err
	}
	return os.Remove(l.path)
}
