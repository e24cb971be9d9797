package preprocess

import (
	"math"
	"strconv"
	"strings"
)

// microseconds is the number of microseconds in a second. Tables and the OSU benchmarks use
// microseconds.
const microseconds = 1e6

// microsShift is the decimal exponent of microseconds. Shifting the decimal point in a text is exact, in
// contrast to a multiplication. A time that is written and read again is therefore the same float64.
const microsShift = 6

// parseMicros converts a text in microseconds to seconds.
func parseMicros(text string) (float64, error) {
	micros, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, err
	}
	mantissa, exponent, found := strings.Cut(strings.ToLower(text), "e")
	shift := 0
	if found {
		shift, err = strconv.Atoi(exponent)
	}
	if err != nil || math.IsInf(micros, 0) || math.IsNaN(micros) {
		return micros / microseconds, nil
	}
	if seconds, err := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(shift-microsShift), 64); err == nil {
		return seconds, nil
	}
	return micros / microseconds, nil // hexadecimal, or an exponent out of range
}

// formatMicros returns the shortest text in microseconds that parseMicros converts back to the same
// seconds. The parameter `seconds` must be finite and not negative.
func formatMicros(seconds float64) string {
	const maxZeros = 20 // more are written as an exponent
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(seconds, 'e', -1, 64), "e")
	shift, _ := strconv.Atoi(exponent) // always a number after %e
	digits := strings.Replace(mantissa, ".", "", 1)
	before := shift + microsShift + 1 // digits before the decimal point
	switch {
	case seconds == 0:
		return "0"
	case before < -maxZeros || before > maxZeros:
		return mantissa + "e" + strconv.Itoa(shift+microsShift)
	case before <= 0:
		return "0." + strings.Repeat("0", -before) + digits
	case before >= len(digits):
		return digits + strings.Repeat("0", before-len(digits))
	}
	return digits[:before] + "." + digits[before:]
}
