package service

import (
	"strings"
	"testing"
	"time"
)

// TestMustWait checks how long a campaign waits that the machine hindered, also after the clock was set back.
func TestMustWait(t *testing.T) {
	now := time.Now()
	for _, tc := range []struct {
		name      string
		notBefore time.Time
		want      bool
	}{
		{"never hindered", time.Time{}, false},
		{"time to wait", now.Add(time.Minute), true},
		{"longest time to wait", now.Add(hindranceMax), true},
		{"waited", now, false},
		{"clock set back", now.Add(40 * 24 * time.Hour), false},
	} {
		if got := (stored{NotBefore: tc.notBefore}).mustWait(now); got != tc.want {
			t.Errorf("%s: must wait %t, want %t", tc.name, got, tc.want)
		}
	}
}

// TestSince checks that a clock that is set does not change how long a campaign has run.
func TestSince(t *testing.T) {
	var s stored
	if s.begin(time.Now()); !strings.Contains(s.Since.String(), " m=") {
		t.Errorf("since %v: want a time with a monotonic clock reading", s.Since)
	}
}
