package preprocess

import (
	"cmp"
	"strconv"
	"strings"
)

// microseconds is the number of microseconds in a second. Tables and the OSU benchmarks use
// microseconds.
const microseconds = 1e6

// parseMicros converts a text in microseconds to seconds. Unless the text has an exponent, the decimal point is
// shifted in the text, which is exact. A time that formatMicros has written is therefore read as the same float64.
func parseMicros(text string) (float64, error) {
	if seconds, err := strconv.ParseFloat(text+"e-6", 64); err == nil {
		return seconds, nil
	}
	micros, err := strconv.ParseFloat(text, 64)
	return micros / microseconds, err
}

// formatMicros returns the shortest text in microseconds, without an exponent, that parseMicros converts back to the
// same seconds. The parameter `seconds` must be finite and not negative.
func formatMicros(seconds float64) string {
	const shift = 6 // decimal digits between seconds and microseconds
	whole, decimals, _ := strings.Cut(strconv.FormatFloat(seconds, 'f', -1, 64), ".")
	decimals += strings.Repeat("0", max(0, shift-len(decimals)))
	micros := cmp.Or(strings.TrimLeft(whole+decimals[:shift], "0"), "0")
	if len(decimals) == shift {
		return micros
	}
	return micros + "." + decimals[shift:]
}
