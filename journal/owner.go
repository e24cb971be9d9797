package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// owner identifies the owner of a lock, as written into the lock file.
//
// A process is identified by its number, its start in ticks and the boot of its machine. A process
// that gets the same number after a crash or a reboot is therefore not mistaken for the owner. In
// containers, process numbers are only valid within a PID namespace. Fields are empty if /proc does
// not exist.
type owner struct {
	Host         string    `json:"host"`
	PID          int       `json:"pid"`
	Start        string    `json:"start,omitempty"`
	Boot         string    `json:"boot,omitempty"`
	PIDNamespace string    `json:"pid_namespace,omitempty"`
	Since        time.Time `json:"since"`
	Nonce        string    `json:"nonce"` // differs between two locks of the same process
}

func self() (owner, error) {
	host, err := os.Hostname()
	if err != nil {
		return owner{}, fmt.Errorf("name of this host: %w", err)
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, _ := os.Readlink("/proc/self/ns/pid")
	start, _ := processStart(os.Getpid())
	return owner{
		Host: host, PID: os.Getpid(), Start: start, Boot: strings.TrimSpace(string(boot)),
		PIDNamespace: namespace, Since: time.Now().UTC().Truncate(time.Second), Nonce: rand.Text(),
	}, nil
}

// String identifies the process in a message, by number and machine.
func (o owner) String() string {
	return fmt.Sprintf("process %d on %s since %s", o.PID, o.Host, o.Since.Format(time.RFC3339))
}

// surelyDead reports whether the process o has certainly ended, from the point of view of the process me.
// It returns false if this is unknown.
func (o owner) surelyDead(me owner) bool {
	switch {
	case o.Host != me.Host:
		return false
	case o.Boot != me.Boot:
		return o.Boot != "" && me.Boot != ""
	case o.PIDNamespace != me.PIDNamespace:
		return false
	}
	start, zombie := processStart(o.PID)
	if start != "" && o.Start != "" {
		return zombie || start != o.Start
	}
	// /proc has no entry for the process, or hides the entry from other users. The kernel knows whether the
	// process exists.
	p, err := os.FindProcess(o.PID)
	if err != nil {
		return true
	}
	err = p.Signal(syscall.Signal(0))
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}

// processStart returns the start of a process in ticks since boot, field 22 of /proc/PID/stat
// (proc(5)). zombie reports whether the process has ended and its parent has not waited for it yet.
// The start is empty if it cannot be read.
func processStart(pid int) (start string, zombie bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false
	}
	// Field 2 is the program's name in parentheses, which may itself contain ")".
	_, rest, _ := cutLast(string(stat), ")")
	fields := strings.Fields(rest)
	const state, startTime = 0, 19 // fields 3 and 22 of the manual page; rest begins with field 3
	if len(fields) <= startTime {
		return "", false
	}
	return fields[startTime], fields[state] == "Z" || fields[state] == "X"
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
