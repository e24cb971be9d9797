package main

import (
	"strings"
	"testing"
)

// TestForLocale checks that a locale without UTF-8 gets ASCII only, also if a character is written in two parts.
func TestForLocale(t *testing.T) {
	tests := []struct{ environ, want string }{
		{"", "─ 2 × 3 – ü"},
		{"LC_ALL=C", "- 2 x 3 - ?"},
		{"LC_ALL=C.UTF-8", "─ 2 × 3 – ü"},
		{"LANG=en_US.utf8 LC_CTYPE=POSIX", "- 2 x 3 - ?"},
		{"LC_ALL= LANG=de_DE.UTF-8", "─ 2 × 3 – ü"},
	}
	for _, tc := range tests {
		var b strings.Builder
		w := forLocale(&b, strings.Fields(tc.environ))
		for _, part := range []string{"─ 2 \xc3", "\x97 3 – ü"} {
			if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
				t.Errorf("%s: wrote %d bytes of %d, %v", tc.environ, n, len(part), err)
			}
		}
		if b.String() != tc.want {
			t.Errorf("%s: %q, want %q", tc.environ, b.String(), tc.want)
		}
	}
}
