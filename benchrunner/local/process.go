package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"tutti/benchrunner"
	"tutti/internal/infile"
)

// termGrace is how long processes may continue after the signal TERM. Launchers need this time to end their
// remote ranks.
const termGrace = 5 * time.Second

type process struct {
	id   string // pid-tick-boot
	pid  int
	tick string // start time in ticks since boot
	boot string
}

func parseID(id string) (process, error) {
	parts := strings.SplitN(id, "-", 3)
	if len(parts) == 3 {
		pid, err := strconv.Atoi(parts[0])
		if err == nil && pid > 1 {
			return process{id, pid, parts[1], parts[2]}, nil
		}
	}
	return process{}, fmt.Errorf("id %q: want PID-TICK-BOOT", id)
}

func readStat(pid int) (procfs.ProcStat, bool, error) {
	proc, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, false, unknown(err)
	}
	s, err := proc.Stat()
	return s, err == nil, unknown(err)
}

// began reports whether the running process s is the leader of the job's session, not another process with the
// same number.
func (p process) began(s procfs.ProcStat) bool { return strconv.FormatUint(s.Starttime, 10) == p.tick }

func dead(s procfs.ProcStat) bool { return s.State == "Z" || s.State == "X" }

// sameBoot reports whether the machine has not rebooted since the process started.
func (p process) sameBoot() (bool, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return false, fmt.Errorf("%w: %w", benchrunner.ErrUnavailable, err)
	}
	return strings.TrimSpace(string(boot)) == p.boot, nil
}

func (p process) alive() (bool, error) {
	s, found, err := readStat(p.pid)
	if err != nil || !found || dead(s) || !p.began(s) {
		return false, err
	}
	return p.sameBoot()
}

// members returns the processes of the job: all processes of its session, others that have the job's ID in their
// environment, and orphans that this process took over.
func (p process) members() ([]int, error) {
	if same, err := p.sameBoot(); err != nil || !same {
		return nil, err
	}
	// The kernel does not reuse the number of a session while the session has members.
	leader, there, err := readStat(p.pid)
	if err != nil {
		return nil, err
	}
	session := p.pid
	if there && !p.began(leader) {
		session = 0 // of another job
	}
	own, _, err := readStat(os.Getpid())
	if err != nil {
		return nil, err
	}
	procs, err := procfs.AllProcs()
	if err != nil {
		return nil, unknown(err)
	}
	var out []int
	for _, proc := range procs {
		member, err := p.has(proc, session, own)
		if err != nil {
			return nil, err
		}
		if member {
			out = append(out, proc.PID)
		}
	}
	return out, nil
}

// has reports whether a process is alive and belongs to the job. `session` is the job's session, 0 if
// unknown; `own` is this process.
func (p process) has(proc procfs.Proc, session int, own procfs.ProcStat) (bool, error) {
	s, err := proc.Stat()
	if err != nil {
		return false, unknown(err)
	}
	took := s.PPID == own.PID && s.Session != own.Session && s.PID != p.pid
	if dead(s) {
		if took && s.PID != s.Session {
			_, _ = unix.Wait4(s.PID, nil, unix.WNOHANG, nil)
		}
		return false, nil
	}
	if s.Session == session && session != 0 {
		return true, nil
	}
	// A child that still runs this program is about to run the script of another job. This is read before the environment,
	// which is this program's until then.
	starting := took && sameProgram(proc)
	env, err := proc.Environ()
	if errors.Is(err, fs.ErrPermission) { // of another user
		return false, nil
	}
	// Processes that this process started, and children of theirs, have its number in their environment. An orphan
	// without it has emptied its environment.
	orphan := took && !starting && !slices.Contains(env, reaperVariable())
	return err == nil && (orphan || slices.Contains(env, "TUTTI_JOB_ID="+p.id)), unknown(err)
}

// sameProgram reports whether a process runs the same program as this process.
func sameProgram(proc procfs.Proc) bool {
	program, err := proc.Executable()
	own, ownErr := os.Readlink("/proc/self/exe")
	return err == nil && ownErr == nil && program == own
}

// reaperVariable is the environment variable of jobs whose value is the ID of the process that takes over orphans.
func reaperVariable() string { return "TUTTI_REAPER=" + strconv.Itoa(os.Getpid()) }

func (p process) end(ctx context.Context) error {
	began := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		pids, err := p.members()
		if err != nil || len(pids) == 0 {
			return err
		}
		signal := syscall.SIGKILL
		switch age := time.Since(began); {
		case age > 3*termGrace:
			return fmt.Errorf("%w: %v", benchrunner.ErrLeft, pids)
		case pause == time.Millisecond:
			signal = syscall.SIGTERM
		case age < termGrace:
			signal = 0
		}
		for _, pid := range pids {
			if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("end process %d: %w", pid, err)
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// readFile returns the content of a file, and whether the file exists. Errors match benchrunner.ErrUnavailable,
// because a later attempt may succeed.
func readFile(path string) (text []byte, found bool, err error) {
	text, err = infile.Read(path, infile.NoLimit)
	return text, err == nil, unknown(err)
}

// modTime returns when a file was last written, the zero time if it does not exist. The error matches
// benchrunner.ErrUnavailable.
func modTime(dir, name string) (time.Time, error) {
	stat, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		return time.Time{}, unknown(err)
	}
	return stat.ModTime(), nil
}

// unknown converts an error of reading a file or process into one that matches benchrunner.ErrUnavailable. It
// returns nil if the file or process does not exist.
func unknown(err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return fmt.Errorf("%w: %w", benchrunner.ErrUnavailable, err)
}
