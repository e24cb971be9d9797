package api

import (
	"fmt"
	"testing"
	"time"
)

// However many clients come, few are remembered; those who behave lose nothing.
func TestLimiterIsBounded(t *testing.T) {
	now := time.Unix(0, 0)
	l := newLimiter(Limits{Rate: 1, Burst: 2, Clients: 100}.withDefaults())
	l.now = func() time.Time { return now }
	for i := range 100 {
		l.allow(fmt.Sprint(i))
	}
	granted := 0
	for i := range 1000 { // more, at once: they share a bucket
		if l.allow(fmt.Sprint("flood", i)) {
			granted++
		}
	}
	if len(l.of) != 100 || granted != 2 {
		t.Errorf("%d clients remembered, %d of the flood granted, want 100 and 2", len(l.of), granted)
	}
	if !l.allow("7") {
		t.Error("a known client suffers from the flood")
	}
	now = now.Add(10 * time.Second) // all buckets are full again: all are forgotten
	if !l.allow("new") || len(l.of) != 1 {
		t.Errorf("after the flood %d are remembered, want the new one", len(l.of))
	}
}

func TestLimiterRefills(t *testing.T) {
	now := time.Unix(0, 0)
	l := newLimiter(Limits{Rate: 2, Burst: 3}.withDefaults())
	l.now = func() time.Time { return now }
	count := func() (n int) {
		for range 10 {
			if l.allow("x") {
				n++
			}
		}
		return n
	}
	if n := count(); n != 3 {
		t.Errorf("%d at once, want 3", n)
	}
	now = now.Add(time.Second)
	if n := count(); n != 2 {
		t.Errorf("%d a second later, want 2", n)
	}
}

// Sessions end by themselves, and there are never too many.
func TestSessionsAreBounded(t *testing.T) {
	now := time.Unix(0, 0)
	s := newSessions()
	s.now = func() time.Time { return now }
	first := s.begin("a")
	now = now.Add(time.Second)
	var last string
	for range maxSessions {
		last = s.begin("b")
	}
	if len(s.byID) > maxSessions {
		t.Errorf("%d sessions, want at most %d", len(s.byID), maxSessions)
	}
	if _, ok := s.secret(first); ok {
		t.Error("the session that ends first made no room")
	}
	if secret, ok := s.secret(last); !ok || secret != "b" {
		t.Errorf("the last session: %q, %t", secret, ok)
	}
	now = now.Add(sessionLife + time.Second)
	if _, ok := s.secret(last); ok {
		t.Error("a session outlives its time")
	}
	s.begin("c")
	if s.begin("d"); len(s.byID) > 2 {
		t.Errorf("%d sessions although all but two have ended", len(s.byID))
	}
}
