package coll_test

import (
	"fmt"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
)

func TestParseNumbers(t *testing.T) {
	for _, tc := range []struct {
		texts string
		want  string // "" if the texts are refused
	}{
		{"7 7.25 .5 7. 1.5e-3 1e3 +2 -2", "[7 7.25 0.5 7 0.0015 1000 2 -2]"},
		{"7,25", "[7.25]"},
		{"0,500", "[0.5]"},
		{"1234,567", "[1234.567]"},
		{"1,234 0,500 2,345", "[1.234 0.5 2.345]"},
		{"256 0,18 0,23", "[256 0.18 0.23]"},
		{"1,234", ""},
		{"1,234 2,500", ""},
		{"1,234.5", ""},
		{"1,234,567", ""},
		{"7,25 1.5", ""},
		{"1.5 7,25", ""},
		{"1_0", ""}, {"0x1p3", ""}, {"0x10", ""}, {"nan", ""}, {"inf", ""}, {"+Inf", ""}, {"1e999", ""}, {"", ""}, {" 1", ""},
		{"1e", ""}, {"e5", ""}, {".", ""}, {"1.2.3", ""}, {"--1", ""}, {"٣", ""}, {"1d5", ""},
	} {
		texts := strings.Split(tc.texts, " ")
		got, err := coll.ParseNumbers(texts...)
		if (err != nil) != (tc.want == "") || err == nil && fmt.Sprint(got) != tc.want {
			t.Errorf("%q = %v, %v, want %s", texts, got, err, tc.want)
		}
	}
}

func TestParseNumberErrors(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	for _, text := range []string{"1,234", "1,234.5", "1_0", "nan", "1e999", strings.Repeat("9", 200) + "x"} {
		_, err := coll.ParseNumber(text)
		golden(text, err)
	}
	for _, seconds := range []float64{1e-300, 1e299} {
		golden(fmt.Sprint(seconds), coll.CheckCall(seconds))
	}
}
