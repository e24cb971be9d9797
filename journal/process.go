package journal

import (
	"errors"
	"fmt"
	"path/filepath"
)

// Process identifies a process on any machine, even if the system later gives its number to another
// process. It can be stored as JSON. A later process can check whether the identified process still runs.
type Process struct {
	owner
}

// ProcessOf returns the process that currently has the given number on this machine.
func ProcessOf(pid int) (Process, error) {
	p, err := self()
	if err != nil {
		return Process{}, err
	}
	start, _ := processStart(pid)
	if start == "" {
		return Process{}, fmt.Errorf("process %d: no such process", pid)
	}
	p.PID, p.Start = pid, start
	return Process{p}, nil
}

// PID returns the number of the process.
func (p Process) PID() int { return p.owner.PID }

// Gone reports whether the process has certainly ended. It returns false if this is unknown, for example
// for a process on another machine.
func (p Process) Gone() bool {
	me, err := self()
	return err == nil && p.surelyDead(me)
}

// Runs reports whether the process certainly runs on this machine.
func (p Process) Runs() bool {
	now, err := ProcessOf(p.PID())
	return err == nil && now.Host == p.Host && now.Boot == p.Boot && now.PIDNamespace == p.PIDNamespace && now.Start == p.Start && !p.Gone()
}

// Writer returns the process that locked the journal of a folder, even if it has ended. The error
// matches fs.ErrNotExist if there is no lock.
func Writer(dir string) (Process, error) {
	o, err := readLock(filepath.Join(dir, LockName))
	return Process{o}, err
}

// Lock creates a lock file at path, of the kind that locks the journal. It returns a function that removes
// the file. The error matches ErrLocked if another process has the lock.
func Lock(path string) (release func() error, err error) {
	me, err := self()
	if err != nil {
		return nil, err
	}
	l, err := acquirePath(path, me, 0)
	if errors.Is(err, ErrLocked) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return nil, err
	}
	return l.release, nil
}
