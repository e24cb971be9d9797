package report

import (
	"math"
	"strconv"
)

// FormatSeconds writes a duration with one decimal, for example "3.2 min". The pages use the same format (duration in
// format.js).
func FormatSeconds(s float64) string {
	unit, seconds := timeUnit(s)
	return trimmed(s/seconds, 1) + " " + unit
}

// FormatNodeSeconds writes node time, for example "3.2 node h".
func FormatNodeSeconds(s float64) string {
	unit, seconds := timeUnit(s)
	return trimmed(s/seconds, 1) + " node " + unit
}

// FormatNodeHours writes a number of node-hours whose unit stands elsewhere, for example in the header of a table: with
// one decimal, or two digits below 1. The pages use the same format (hours in format.js).
func FormatNodeHours(h float64) string {
	if h < 1 {
		short, _ := strconv.ParseFloat(strconv.FormatFloat(h, 'g', 2, 64), 64)
		return strconv.FormatFloat(short, 'f', -1, 64)
	}
	return trimmed(h, 1)
}

// timeUnit returns the unit in which s has one to three digits before the decimal point, if there is one.
func timeUnit(s float64) (name string, seconds float64) {
	switch s = math.Abs(s); {
	case s == 0 || s >= 1 && s < 120:
		return "s", 1
	case s < 1e-3:
		return "µs", 1e-6
	case s < 1:
		return "ms", 1e-3
	case s < 2*3600:
		return "min", 60
	}
	return "h", 3600
}
