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

// owner identifies the process that owns a lock. The lock file contains it.
//
// A process is identified by its number, its start time in ticks and the boot ID of its machine. Another
// process with the same number, after a crash or a reboot, is thus not mistaken for the owner. In
// containers, process numbers are valid only within a PID namespace. Fields are empty if /proc does not
// exist.
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

// String returns a text that identifies the process in a message, by its number and machine.
func (o owner) String() string {
	return fmt.Sprintf("process %d on %s since %s", o.PID, o.Host, o.Since.Format(time.RFC3339))
}

// surelyDead reports whether the process `o` has certainly ended. The process `me` decides this from what it
// can know on its machine. The result is false if the answer is unknown.
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
	// /proc has no entry for the process, or hides it from other users. The kernel still knows whether the
	// process exists.
	p, err := os.FindProcess(o.PID)
	if err != nil {
		return true
	}
	err = p.Signal(syscall.Signal(0))
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}

// processStart returns when a process started, in ticks since boot (field 22 of /proc/PID/stat, see
// proc(5)). The start is empty if it cannot be read. zombie reports whether the process has ended but its
// parent has not yet waited for it.
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
