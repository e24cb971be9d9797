package service

import (
	"context"
	"errors"
	"testing"

	"tutti/journal"
)

// TestAbandonedTraining checks that nothing is trained for callers that wait no longer, and that a later caller is not
// given their error.
func TestAbandonedTraining(t *testing.T) {
	c := newLearnedCache()
	c.turn <- struct{}{} // other models are being trained
	key := learnedKey{"id", journal.Problem{Library: "mpich", Collective: "bcast"}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.get(ctx, key, t.TempDir(), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("get = %v, want %v", err, context.Canceled)
	}
	if len(c.training) != 0 {
		t.Errorf("%d trainings go on", len(c.training))
	}
	<-c.turn
	if _, err := c.get(t.Context(), key, t.TempDir(), 1); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("get = %v, want the error of a folder without a journal", err)
	}
}
