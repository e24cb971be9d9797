package slurm

import (
	"errors"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
)

// TestNotice checks that Notice receives each temporary error of Slurm and reports a command
// that does not answer.
func TestNotice(t *testing.T) {
	s, _ := fake(t, map[string]string{"scontrol": "echo 'scontrol: error: Unable to contact slurm controller (connect failure)' >&2; exit 1"})
	var notices []string
	s.options.Notice = func(err error) { notices = append(notices, err.Error()) }
	if _, err := s.Switches(t.Context()); !errors.Is(err, benchrunner.ErrUnavailable) {
		t.Errorf("Switches = %v, want %v", err, benchrunner.ErrUnavailable)
	}
	if len(notices) < 10 || notices[0] != "scontrol: Unable to contact slurm controller (connect failure)" {
		t.Errorf("notices %q, want Slurm's message, each time", notices)
	}

	s, _ = fake(t, map[string]string{"scontrol": "/bin/sleep 0.5"})
	s.slow = 100 * time.Millisecond
	slow := make(chan error, 1)
	s.options.Notice = func(err error) { slow <- err }
	if _, err := s.Switches(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-slow; !strings.Contains(err.Error(), "scontrol has not answered for 100ms") {
		t.Errorf("notice %v", err)
	}
}
