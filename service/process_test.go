package service

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tutti/internal/testutil"
)

// TestRunKills checks that a child that ignores the interrupt at its time limit is killed.
func TestRunKills(t *testing.T) {
	p := processes{command: []string{"sh", "-c", "trap '' INT; while :; do sleep 0.01; done"}, grace: 10 * time.Millisecond}
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	err := p.run(ctx, filepath.Join(t.TempDir(), "log"), "", "update")
	if err == nil || !strings.Contains(err.Error(), "tutti update: it exceeded its time limit") {
		t.Errorf("run = %v, want the time limit", err)
	}
}

// TestLowerPriority checks that a campaign on recorded data runs after the service, with all its threads.
func TestLowerPriority(t *testing.T) {
	p := processes{command: []string{"sleep"}, grace: time.Second}
	ctx, stop := context.WithCancel(t.Context())
	started := testutil.Must(p.start(ctx, filepath.Join(t.TempDir(), "log"), "", []string{"60"}))(t)
	c := started.(*child)
	c.lowerPriority()
	own, got := niceness(t, os.Getpid()), niceness(t, c.cmd.Process.Pid)
	if want := min(own+computingNice, 19); got != want {
		t.Errorf("niceness %d, want %d", got, want)
	}
	stop()
	_, _ = c.wait(t.Context())
}

func niceness(t *testing.T, pid int) int {
	t.Helper()
	return 20 - testutil.Must(unix.Getpriority(unix.PRIO_PROCESS, pid))(t)
}
