package main

import (
	"strings"
	"testing"
)

// TestWrapDescription checks that paragraphs are filled, and that entries of lists keep their column.
func TestWrapDescription(t *testing.T) {
	long := strings.Repeat("word ", 17)
	text := "one\ntwo " + long + "\n\n  name  " + long + "\n        more\n  next  text\n"
	want := "one two" + strings.Repeat(" word", 14) + "\nword word word\n\n  name  " + strings.TrimSpace(strings.Repeat("word ", 14)) +
		"\n        word word word more\n  next  text"
	if got := wrapDescription(text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
