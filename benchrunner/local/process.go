package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// patience is how long processes are waited for after TERM: launchers end their
// remote parts meanwhile.
const patience = 5 * time.Second

// process is one that leads the session of a job, and no other one ever.
type process struct {
	id   string // pid-tick-boot
	pid  int
	tick string // of its start since the machine came up
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

// stat is what /proc says of a process.
type stat struct {
	state   string
	session string
	tick    string
}

// readStat returns false when there is no such process. The name of the program,
// in brackets, may hold anything.
func readStat(pid int) (stat, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, false
	}
	return parseStat(text)
}

func parseStat(text []byte) (stat, bool) {
	end := bytes.LastIndexByte(text, ')')
	f := strings.Fields(string(text[end+1:]))
	if end < 0 || len(f) < 20 {
		return stat{}, false
	}
	return stat{state: f[0], session: f[3], tick: f[19]}, true
}

func (s stat) dead() bool { return s.state == "Z" || s.state == "X" }

func (p process) sameBoot() bool {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return err == nil && strings.TrimSpace(string(boot)) == p.boot
}

// alive reports whether the process itself runs.
func (p process) alive() bool {
	s, ok := readStat(p.pid)
	return ok && !s.dead() && s.tick == p.tick && p.sameBoot()
}

// members returns the processes of the job: those of its session, and those that
// left it but have the job's ID in their environment.
func (p process) members() ([]int, error) {
	if !p.sameBoot() {
		return nil, nil
	}
	// While a session has members no new process gets its number.
	leader, there := readStat(p.pid)
	reused := there && leader.tick != p.tick
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	mark := []byte("\x00TUTTI_JOB_ID=" + p.id + "\x00")
	var out []int
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		s, ok := readStat(pid)
		if err != nil || !ok || s.dead() {
			continue
		}
		ours := !reused && s.session == strconv.Itoa(p.pid)
		if !ours {
			env, _ := os.ReadFile(filepath.Join(dir, "environ")) // of others: not readable, not ours
			ours = bytes.Contains(append([]byte{0}, env...), mark)
		}
		if ours {
			out = append(out, pid)
		}
	}
	return out, nil
}

// end ends all processes of the job and waits until they are gone.
func (p process) end(ctx context.Context) error {
	began := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		pids, err := p.members()
		if err != nil || len(pids) == 0 {
			return err
		}
		signal := syscall.SIGKILL
		switch age := time.Since(began); {
		case age > 3*patience:
			return fmt.Errorf("processes %v do not end", pids)
		case pause == time.Millisecond:
			signal = syscall.SIGTERM
		case age < patience:
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
