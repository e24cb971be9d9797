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

// owner is the owner of a lock, as written into the lock file.
//
// A process is known by its number, the tick it started at and the boot of its
// machine, so that a number used again after a crash or reboot is not mistaken
// for the old process. Inside containers numbers mean something only within one
// PID namespace. Fields are empty where /proc does not exist.
type owner struct {
	Host         string    `json:"host"`
	PID          int       `json:"pid"`
	Start        string    `json:"start,omitempty"`
	Boot         string    `json:"boot,omitempty"`
	PIDNamespace string    `json:"pid_namespace,omitempty"`
	Since        time.Time `json:"since"`
	Nonce        string    `json:"nonce"` // differs between two locks of one process
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

// String returns the text of a message that identifies the process.
func (o owner) String() string {
	return fmt.Sprintf("process %d on %s since %s", o.PID, o.Host, o.Since.Format(time.RFC3339))
}

// surelyDead reports whether the process of o is certainly not running, as seen from me. It is
// false if that is unknown.
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
	// No such entry in /proc, which may be hidden from other users: ask the kernel.
	p, err := os.FindProcess(o.PID)
	if err != nil {
		return true
	}
	err = p.Signal(syscall.Signal(0))
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}

// processStart returns the start of a process in ticks since boot, field 22 of
// /proc/PID/stat (proc(5)), and whether it has ended and waits for its parent.
// The start is empty when it cannot be read.
func processStart(pid int) (start string, zombie bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false
	}
	// Field 2 is the name in parentheses and may hold anything, ")" included.
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
