package main

import (
	"testing"
	"time"

	"tutti/internal/config"
)

// TestStatusBudgets checks that no more of a budget is left than its limit, even if the clock was set back.
func TestStatusBudgets(t *testing.T) {
	for _, tc := range []struct{ wall, used, left time.Duration }{
		{wall: 20 * time.Second, used: 20 * time.Second, left: 40 * time.Second},
		{wall: 2 * time.Minute, used: 2 * time.Minute},
		{wall: -time.Hour, left: time.Minute},
	} {
		var s campaignStatus
		s.addBudgets(config.Stop{WallTime: time.Minute}, tc.wall, 0)
		if len(s.Budgets) != 1 || s.Budgets[0].Used != tc.used.Seconds() || s.Budgets[0].Left != tc.left.Seconds() {
			t.Errorf("after %v: %+v, want %v used and %v left", tc.wall, s.Budgets, tc.used, tc.left)
		}
	}
}
