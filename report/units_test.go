package report_test

import (
	"testing"

	"tutti/report"
)

// TestUnits checks the format of durations and node-hours. format.test.mjs has the same rows for the pages.
func TestUnits(t *testing.T) {
	for s, want := range map[float64]string{
		0: "0 s", 0.0004: "400 µs", 0.0412: "41.2 ms", 1: "1 s", 3.14: "3.1 s", 119.9: "119.9 s", 120: "2 min", 194: "3.2 min", 7200: "2 h", 180000: "50 h", -90: "-90 s",
	} {
		if got := report.FormatSeconds(s); got != want {
			t.Errorf("FormatSeconds(%g) = %q, want %q", s, got, want)
		}
	}
	for h, want := range map[float64]string{24: "24", 12.44: "12.4", 0.0234: "0.023", 0.00246: "0.0025", 0: "0"} {
		if got := report.FormatNodeHours(h); got != want {
			t.Errorf("FormatNodeHours(%g) = %q, want %q", h, got, want)
		}
	}
	if got, want := report.FormatNodeSeconds(11520), "3.2 node h"; got != want {
		t.Errorf("FormatNodeSeconds = %q, want %q", got, want)
	}
}
