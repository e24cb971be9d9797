package service

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRunKills checks that a child that ignores the interrupt at its time limit is killed.
func TestRunKills(t *testing.T) {
	opt := Options{Command: []string{"sh", "-c", "trap '' INT; while :; do sleep 0.01; done"}}
	opt.Drain = 10 * time.Millisecond
	p := processes{&opt}
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	err := p.run(ctx, filepath.Join(t.TempDir(), "log"), "", "update")
	if err == nil || !strings.Contains(err.Error(), "tutti update: it exceeded its time limit") {
		t.Errorf("run = %v, want the time limit", err)
	}
}
