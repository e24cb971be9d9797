package service

import (
	"testing"
	"time"
)

func TestSpending(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	var s daySpending
	steps := []struct {
		name        string
		at          time.Time
		add         float64
		first, next float64 // spending on March 1 and 2 afterwards
	}{
		{"the first", noon, 2, 2, 0},
		{"the same day", noon.Add(11 * time.Hour), 3, 5, 0},
		{"in another zone", noon.Add(11 * time.Hour).UTC(), 1, 6, 0},
		{"the next day", noon.Add(13 * time.Hour), 4, 0, 4},
		{"late news of the day before", noon, 8, 0, 4},
	}
	for _, st := range steps {
		s.add(st.at, st.add)
		if first, next := s.on("2026-03-01"), s.on("2026-03-02"); first != st.first || next != st.next {
			t.Errorf("%s: %g and %g, want %g and %g", st.name, first, next, st.first, st.next)
		}
	}
	for _, at := range []time.Time{noon, noon.Add(12*time.Hour - time.Nanosecond), noon.Add(-12 * time.Hour)} {
		if got, want := nextDay(at), time.Date(2026, 3, 2, 0, 0, 0, 0, time.Local); !got.Equal(want) {
			t.Errorf("nextDay(%v) = %v, want %v", at, got, want)
		}
	}
}
