package live

import (
	"strings"
	"unicode"
)

// oneLine keeps what cannot end a comment.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// tail returns the last lines of what a program said, in one line fit for a
// journal.
func tail(text []byte, lines int) string {
	const most = 600
	all := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(text), "?")), "\n")
	s := strings.Join(all[max(0, len(all)-lines):], " | ")
	s = strings.TrimSpace(oneLine(s))
	if len(s) > most {
		s = "… " + strings.ToValidUTF8(s[len(s)-most:], "")
	}
	return s
}
