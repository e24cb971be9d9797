package slurm

import (
	"errors"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
)

// Whoever waits for Slurm is told why: what it says between two questions, and that a
// command hangs.
func TestNotice(t *testing.T) {
	s, _ := fake(t, map[string]string{"scontrol": "echo 'scontrol: error: Unable to contact slurm controller (connect failure)' >&2; exit 1"})
	var told []string
	s.options.Notice = func(err error) { told = append(told, err.Error()) }
	if _, err := s.Switches(t.Context()); !errors.Is(err, benchrunner.ErrUnavailable) {
		t.Errorf("Switches = %v, want %v", err, benchrunner.ErrUnavailable)
	}
	if len(told) < 10 || told[0] != "scontrol: Unable to contact slurm controller (connect failure)" {
		t.Errorf("told %q, want what Slurm says, each time", told)
	}

	s, _ = fake(t, map[string]string{"scontrol": "/bin/sleep 0.5"})
	s.slow = 100 * time.Millisecond
	slow := make(chan error, 1)
	s.options.Notice = func(err error) { slow <- err }
	if _, err := s.Switches(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-slow; !strings.Contains(err.Error(), "scontrol has not answered for 100ms") {
		t.Errorf("told %v", err)
	}
}
