package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// TestDescriptionsFit checks that the description of each command fits into terminalWidth columns.
func TestDescriptionsFit(t *testing.T) {
	var check func(*cobra.Command)
	check = func(c *cobra.Command) {
		for line := range strings.Lines(wrapDescription(c.Long)) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > terminalWidth && c.Name() != "bash" && c.Name() != "zsh" {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), n, line)
			}
		}
		for _, child := range c.Commands() {
			check(child)
		}
	}
	check(rootCommand(&app{}))
}

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
