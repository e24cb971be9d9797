package mpi_test

import (
	"testing"

	"tutti/mpi"
)

// TestParseJSONComments checks that errors name comments, with their line.
func TestParseJSONComments(t *testing.T) {
	for text, want := range map[string]string{
		"{\n// first\n\"a\": 1}":     "line 2: a comment (//): JSON has none, remove it",
		"{\"a\":\n1 /* one */}":      "line 2: a comment (/*): JSON has none, remove it",
		"# head\n{}":                 "line 1: a comment (#): JSON has none, remove it",
		"{\n'a': 1}":                 "line 2: \"'a': 1}\": want a key in double quotes",
		"{\"a\": \"// no comment\"}": "",
	} {
		got := ""
		if _, _, err := mpi.ParseJSON([]byte(text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
