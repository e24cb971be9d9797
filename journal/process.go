package journal

import (
	"errors"
	"fmt"
	"path/filepath"
)

// Process is a process of some machine, known well enough to tell later whether
// it still runs, even when its number was used again. Its JSON form can be kept.
type Process struct {
	owner
}

// ProcessOf returns the process that has a number on this machine now.
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

// PID is the number of the process.
func (p Process) PID() int { return p.owner.PID }

// Gone reports whether the process surely does not run any more, seen from this
// one. In doubt, as with a process of another machine, it says false.
func (p Process) Gone() bool {
	me, err := self()
	return err == nil && p.surelyDead(me)
}

// Runs reports whether the process surely runs, seen from this one: it is on this
// machine and has not ended.
func (p Process) Runs() bool {
	now, err := ProcessOf(p.PID())
	return err == nil && now.Host == p.Host && now.Boot == p.Boot && now.PIDNamespace == p.PIDNamespace && now.Start == p.Start && !p.Gone()
}

// Writer returns who has the journal of a folder now, dead or alive. The error
// matches fs.ErrNotExist when nobody has.
func Writer(dir string) (Process, error) {
	o, err := readLock(filepath.Join(dir, LockName))
	return Process{o}, err
}

// Lock takes the lock file path, in the way of the journal's, and returns what
// gives it back. The error matches ErrLocked while another process has it.
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
