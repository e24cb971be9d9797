package live

import (
	"math"
	"strconv"
	"strings"
)

// fields are the lines "key value" of a file that a script wrote.
type fields map[string][]string

// parseFields reads such a file; one that does not end in the line "whole" was cut
// short and is not there.
func parseFields(text []byte) (fields, bool) {
	body, ok := strings.CutSuffix(string(text), "whole\n")
	if !ok || body != "" && !strings.HasSuffix(body, "\n") {
		return nil, false
	}
	f := fields{}
	for line := range strings.Lines(body) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		f[key] = append(f[key], strings.ToValidUTF8(value, "?"))
	}
	return f, true
}

func (f fields) first(key string) string {
	if len(f[key]) == 0 {
		return ""
	}
	return f[key][0]
}

func (f fields) int(key string) int64 {
	n, err := strconv.ParseInt(f.first(key), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// since returns end - begin in seconds, never negative. Both are written twice: by a
// coarse clock that never steps, and by a fine one that is taken when it agrees.
func (f fields) since() float64 {
	begin, end := clocks(f.first("begin")), clocks(f.first("end"))
	coarse, fine := end[0]-begin[0], end[1]-begin[1]
	const tick = 0.02 // of the coarse clock, both ends
	d := coarse
	if end[0] == 0 || end[1] != 0 && math.Abs(fine-coarse) <= tick {
		d = fine
	}
	if d > 0 && d < 1e10 {
		return d
	}
	return 0
}

// clocks reads two numbers; a locale may have written a comma.
func clocks(s string) [2]float64 {
	var out [2]float64
	for i, word := range strings.Fields(strings.ReplaceAll(s, ",", ".")) {
		if n, err := strconv.ParseFloat(word, 64); err == nil && i < len(out) {
			out[i] = clean(n)
		}
	}
	return out
}
