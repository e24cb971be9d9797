package suites

import (
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"

	"tutti/coll"
)

// recordedLines returns the median of the times of each collective, size and number of ranks, in the order of their
// first lines.
func recordedLines(lines iter.Seq[string], pattern *regexp.Regexp, unit string) ([]Recorded, error) {
	type call struct {
		collective coll.Collective
		bytes      int64
		ranks      int
	}
	var order []call
	rows := map[call]*row{}
	number := 0
	for line := range lines {
		number++
		m := pattern.FindStringSubmatchIndex(line)
		if m == nil {
			continue
		}
		for _, name := range []string{unit, "bytes", "ranks"} {
			if err := checkWhole(pattern, m, line, name); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
		}
		group := func(name string) string {
			if k := 2 * pattern.SubexpIndex(name); k > 0 && m[k] >= 0 {
				return line[m[k]:m[k+1]]
			}
			return ""
		}
		seconds, err := coll.ParseNumber(group(unit))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		var c call
		if text := group("bytes"); text != "" {
			if c.bytes, err = strconv.ParseInt(text, 10, 64); err != nil || c.bytes < 0 {
				return nil, fmt.Errorf("line %d: bytes %q: want a whole number from 0", number, text)
			}
		}
		if text := group("ranks"); text != "" {
			if c.ranks, err = strconv.Atoi(text); err != nil || c.ranks < 1 {
				return nil, fmt.Errorf("line %d: ranks %q: want a whole number from 1", number, text)
			}
		}
		if text := group("collective"); text != "" {
			name := strings.TrimPrefix(strings.ToLower(text), "mpi_")
			if c.collective, err = coll.ParseCollective(name); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
		}
		if rows[c] == nil {
			order, rows[c] = append(order, c), &row{bytes: c.bytes}
		}
		rows[c].samples = append(rows[c].samples, seconds*timeUnits[unit])
	}
	var out []Recorded
	for _, c := range order {
		r := *rows[c]
		if len(r.samples) == 1 {
			r.max, r.calls, r.avg, r.min, r.samples = r.samples[0], 1, r.samples[0], r.samples[0], nil
		}
		x := recorded(coll.Bcast, c.ranks, r, "the program") // any collective with a size
		x.Collective = c.collective
		out = append(out, x)
	}
	return out, nil
}
