package report

import (
	"fmt"
	"math"
	"strconv"
)

// absent stands in every table where a figure is not known.
const absent = "–"

// formatSeconds writes a duration with the unit that suits its length.
func formatSeconds(s float64) string {
	unit := timeUnit(s)
	return trimmed(s/unit.seconds, 1) + " " + unit.name
}

// formatNodeSeconds is formatSeconds for node-time: 3.2 node h.
func formatNodeSeconds(s float64) string {
	unit := timeUnit(s)
	return trimmed(s/unit.seconds, 1) + " node " + unit.name
}

type unit struct {
	name    string
	seconds float64
}

// timeUnit returns the unit in which s is neither tiny nor unwieldy.
func timeUnit(s float64) unit {
	switch {
	case s == 0 || s >= 1 && s < 120:
		return unit{"s", 1}
	case s < 1e-3:
		return unit{"µs", 1e-6}
	case s < 1:
		return unit{"ms", 1e-3}
	case s < 2*3600:
		return unit{"min", 60}
	}
	return unit{"h", 3600}
}

// formatSlowdown writes a ratio with as many digits as a reader can use.
func formatSlowdown(x float64) string {
	if math.Abs(x) >= 10 {
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 3, 64)
}

// formatShare writes a proportion as a percentage. Only a true zero is "0 %".
func formatShare(x float64) string {
	if x > 0 && x < 0.0005 {
		return "<0.1 %"
	}
	return trimmed(100*x, 1) + " %"
}

// formatOf writes "n of total (share)".
func formatOf(n, total int) string {
	if total <= 0 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d of %d (%s)", n, total, formatShare(float64(n)/float64(total)))
}

// formatInterval writes a value with its interval behind it.
func formatInterval(value, low, high string) string {
	return value + " [" + low + ", " + high + "]"
}

// trimmed rounds x to the given number of decimals and drops trailing zeros.
func trimmed(x float64, decimals int) string {
	scale := math.Pow(10, float64(decimals))
	return strconv.FormatFloat(math.Round(x*scale)/scale, 'f', -1, 64)
}

// stopWords says in words how a problem ended.
func stopWords(stop string) string {
	switch stop {
	case "":
		return "STILL RUNNING"
	case converged:
		return converged
	}
	return "NOT CONVERGED: " + stop
}

// converged is the one stop reason that says the criteria were met.
const converged = "converged"
