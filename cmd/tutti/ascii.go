package main

import (
	"io"
	"strings"
	"unicode/utf8"
)

// asciiWriter writes texts without letters outside of ASCII, for a locale whose character set is not UTF-8.
type asciiWriter struct {
	io.Writer
	rest []byte // the beginning of a character whose end was not written yet
}

// ascii has the replacements of characters that tutti prints.
var ascii = strings.NewReplacer("─", "-", "│", "|", "–", "-", "—", "-", "…", "...", "×", "x", "≤", "<=", "≥", ">=", "±", "+-", "→", "->", "µ", "u", "“", `"`, "”", `"`, "’", "'", "·", "-", "\u00a0", " ")

// Write implements io.Writer. It replaces each other character outside of ASCII by a question mark.
func (w *asciiWriter) Write(p []byte) (int, error) {
	text := append(w.rest, p...)
	end := len(text)
	for i := max(0, end-utf8.UTFMax+1); i < end; i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			end = i
			break
		}
	}
	w.rest = append([]byte(nil), text[end:]...)
	out := strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '?'
		}
		return r
	}, ascii.Replace(string(text[:end])))
	if _, err := io.WriteString(w.Writer, out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// forLocale returns a writer that writes only what the character set of the environment's locale has. Without a locale
// it returns `out`, since many terminals that show UTF-8 have none.
func forLocale(out io.Writer, environ []string) io.Writer {
	for _, name := range []string{"LC_ALL=", "LC_CTYPE=", "LANG="} { // the first one that is set counts, see locale(7)
		for _, v := range environ {
			value, ok := strings.CutPrefix(v, name)
			if !ok || value == "" {
				continue
			}
			if charset := strings.ToLower(value); strings.Contains(charset, "utf-8") || strings.Contains(charset, "utf8") {
				return out
			}
			return &asciiWriter{Writer: out}
		}
	}
	return out
}

// unconverted returns the writer below an asciiWriter.
func unconverted(out io.Writer) io.Writer {
	if w, ok := out.(*asciiWriter); ok {
		return w.Writer
	}
	return out
}

// ownFile returns the writer that tutti was given as standard output or standard error.
func ownFile(out io.Writer) io.Writer {
	out = unconverted(out)
	if w, ok := out.(*stickyWriter); ok {
		return w.to
	}
	return out
}
