package service

import "time"

// spending is what was taken of machines on one day, the latest that was told of.
type spending struct {
	Day         string  `json:"day"` // 2006-01-02, by the clock on the wall
	NodeSeconds float64 `json:"node_seconds"`
}

// add counts what ended at a time. What belongs to a day before is left out.
func (s *spending) add(t time.Time, nodeSeconds float64) {
	switch day := dayOf(t); {
	case day > s.Day:
		*s = spending{day, nodeSeconds}
	case day == s.Day:
		s.NodeSeconds += nodeSeconds
	}
}

// on returns the node-seconds of a day.
func (s spending) on(day string) float64 {
	if s.Day != day {
		return 0
	}
	return s.NodeSeconds
}

func dayOf(t time.Time) string { return t.Local().Format(time.DateOnly) }

// nextDay is when the day of a time ends.
func nextDay(t time.Time) time.Time {
	year, month, day := t.Local().Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, time.Local)
}
