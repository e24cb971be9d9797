package mpich

import "bytes"

// plainJSON returns a text that json-c reads as JSON, which is what MPICH uses, as JSON of the same length: comments
// become blanks, so that lines keep their numbers, and single quotes become double quotes.
func plainJSON(text []byte) []byte {
	out := bytes.Clone(text)
	for i := 0; i < len(out); {
		switch {
		case out[i] == '"' || out[i] == '\'':
			quote := out[i]
			out[i] = '"'
			for i++; i < len(out) && out[i] != quote; i++ {
				if out[i] == '\\' {
					i++
				}
			}
			if i < len(out) {
				out[i] = '"'
			}
			i++
		case bytes.HasPrefix(out[i:], []byte("//")):
			i = blank(out, i, "\n")
		case bytes.HasPrefix(out[i:], []byte("/*")) && bytes.Contains(out[i+len("/*"):], []byte("*/")):
			i = blank(out, i, "*/")
		default:
			i++
		}
	}
	return out
}

// blank replaces the bytes from `at` to the end mark, or to the end of the text, by blanks. It keeps ends of lines, and
// returns the place after the mark.
func blank(text []byte, at int, end string) int {
	const open = len("/*")
	to := len(text)
	if n := bytes.Index(text[at+open:], []byte(end)); n >= 0 {
		to = at + open + n + len(end)
	}
	for i := at; i < to; i++ {
		if text[i] != '\n' {
			text[i] = ' '
		}
	}
	return to
}
