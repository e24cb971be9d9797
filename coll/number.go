package coll

import (
	"fmt"
	"strconv"
	"strings"

	"tutti/internal/lazyregexp"
)

// Bounds of the time of one call of a collective, in seconds. Light travels 30 cm in the shortest. No launch may take
// longer than the longest, 30 days.
const (
	ShortestCall = 1e-9
	LongestCall  = 30 * 24 * 3600
)

// CheckCall returns an error if no call of a collective can take this time, in seconds.
func CheckCall(seconds float64) error {
	if !(seconds >= ShortestCall && seconds <= LongestCall) {
		return fmt.Errorf("a time of %g s: want %g to %g s", seconds, ShortestCall, float64(LongestCall))
	}
	return nil
}

// ParseNumber parses a decimal number, such as 7, 7.25 or 1.5e-3. It refuses other forms, such as 0x1p3, 1_0 and NaN.
func ParseNumber(text string) (float64, error) {
	numbers, err := ParseNumbers(text)
	if err != nil {
		return 0, err
	}
	return numbers[0], nil
}

var (
	pointForm = lazyregexp.New(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?$`)
	commaForm = lazyregexp.New(`^[-+]?[0-9]+,[0-9]+([eE][-+]?[0-9]{1,3})?$`)
	groupForm = lazyregexp.New(`^[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]*)?$`) // thousands
)

// ParseNumbers parses decimal numbers that one program printed. The decimal separator may be a comma if all of the
// texts can be read so, and at least one of them in no other way: 1,234 alone may be a thousand.
func ParseNumbers(texts ...string) ([]float64, error) {
	points, err := DecimalPoints(texts...)
	if err != nil {
		return nil, err
	}
	numbers := make([]float64, len(texts))
	for i, text := range points {
		if numbers[i], err = strconv.ParseFloat(text, 64); err != nil {
			return nil, fmt.Errorf("%s: a number out of range", shown(texts[i]))
		}
	}
	return numbers, nil
}

// DecimalPoints returns the texts of decimal numbers with decimal points; see ParseNumbers.
func DecimalPoints(texts ...string) ([]string, error) {
	out, commas, points, certain := make([]string, len(texts)), "", false, false
	for i, text := range texts {
		switch {
		case pointForm.MatchString(text):
			points = points || strings.Contains(text, ".")
		case commaForm.MatchString(text):
			commas = text
			certain = certain || !groupForm.MatchString(text)
		case groupForm.MatchString(text):
			return nil, fmt.Errorf("%s: a number with thousands separators: want digits and a decimal point, as LC_ALL=C prints", shown(text))
		default:
			return nil, fmt.Errorf("%s: want a decimal number", shown(text))
		}
		out[i] = strings.Replace(text, ",", ".", 1)
	}
	if commas != "" && (points || !certain) {
		return nil, fmt.Errorf("%s: the comma may separate decimals or thousands: want a decimal point, as LC_ALL=C prints", shown(commas))
	}
	return out, nil
}

// shown quotes a text for a message, at most 40 bytes of it.
func shown(text string) string {
	const most = 40
	if len(text) > most {
		return fmt.Sprintf("%.*q…", most, text)
	}
	return strconv.Quote(text)
}
