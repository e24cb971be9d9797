package journal

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Process identifies a process on any machine. A lock file contains the process that has the lock.
//
// A process is identified by its number, its start time in ticks and the boot ID of its machine. Another
// process with the same number, after a crash or a reboot, is thus not mistaken for it. In containers,
// process numbers are valid only within a PID namespace. Fields are empty if /proc does not exist.
type Process struct {
	Host         string    `json:"host"`
	PID          int       `json:"pid"`
	Start        string    `json:"start,omitempty"`
	Boot         string    `json:"boot,omitempty"`
	PIDNamespace string    `json:"pid_namespace,omitempty"`
	Since        time.Time `json:"since"`
	Nonce        string    `json:"nonce"` // differs between two locks of the same process
}

func self() (Process, error) {
	host, err := os.Hostname()
	if err != nil {
		return Process{}, fmt.Errorf("name of this host: %w", err)
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, _ := os.Readlink("/proc/self/ns/pid")
	start, _ := processStart(os.Getpid())
	return Process{
		Host: host, PID: os.Getpid(), Start: start, Boot: strings.TrimSpace(string(boot)),
		PIDNamespace: namespace, Since: time.Now().UTC().Truncate(time.Second), Nonce: rand.Text(),
	}, nil
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
	return p, nil
}

// Writer returns the process that locked the journal of a folder, even if it has ended. The error
// matches fs.ErrNotExist if there is no lock.
func Writer(dir string) (Process, error) { return readLock(filepath.Join(dir, LockName)) }

// String returns a text that identifies the process in a message, by its number and machine.
func (p Process) String() string {
	return fmt.Sprintf("process %d on %s since %s", p.PID, p.Host, p.Since.Format(time.RFC3339))
}

// Gone reports whether the process has certainly ended. It returns false if this is unknown, for example
// for a process on another machine.
func (p Process) Gone() bool {
	me, err := self()
	return err == nil && p.surelyDead(me)
}

// Runs reports whether this process runs on this machine. It returns true unless the process has certainly ended or is
// of another machine: a shortage of file descriptors does not make a process disappear.
func (p Process) Runs() bool {
	me, err := self()
	if err != nil {
		return true
	}
	differ := func(a, b string) bool { return a != "" && b != "" && a != b }
	elsewhere := p.Host != me.Host || differ(p.Boot, me.Boot) || differ(p.PIDNamespace, me.PIDNamespace)
	return !elsewhere && !p.surelyDead(me)
}

// surelyDead reports whether the process has certainly ended. The process `me` decides this from what it
// can know on its machine. The result is false if the answer is unknown.
func (p Process) surelyDead(me Process) bool {
	switch {
	case p.Host != me.Host:
		return false
	case p.Boot != me.Boot:
		return p.Boot != "" && me.Boot != ""
	case p.PIDNamespace != me.PIDNamespace:
		return false
	}
	start, zombie := processStart(p.PID)
	if start != "" && p.Start != "" {
		return zombie || start != p.Start
	}
	// /proc has no entry for the process, or hides it from other users. The kernel still knows whether the
	// process exists.
	found, err := os.FindProcess(p.PID)
	if err != nil {
		return true
	}
	err = found.Signal(syscall.Signal(0))
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}

// processStart returns when a process started, in ticks since boot (field 22 of /proc/PID/stat, see
// proc(5)). The start is empty if it cannot be read. `zombie` reports whether the process has ended but its
// parent has not yet waited for it.
func processStart(pid int) (start string, zombie bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false
	}
	// Field 2 is the program's name in parentheses, which may itself contain ")".
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const state, startTime = 0, 19 // fields 3 and 22 of the manual page; the list begins with field 3
	if len(fields) <= startTime {
		return "", false
	}
	return fields[startTime], fields[state] == "Z" || fields[state] == "X"
}
