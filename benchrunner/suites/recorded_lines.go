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
		m := pattern.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		group := func(name string) string {
			if k := pattern.SubexpIndex(name); k > 0 {
				return m[k]
			}
			return ""
		}
		seconds, err := coll.ParseNumber(group(unit))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		var c call
		if text := group("bytes"); text != "" {
			if c.bytes, err = strconv.ParseInt(text, 10, 64); err != nil {
				return nil, fmt.Errorf("line %d: bytes %q: want a whole number", number, text)
			}
		}
		if text := group("ranks"); text != "" {
			if c.ranks, err = strconv.Atoi(text); err != nil {
				return nil, fmt.Errorf("line %d: ranks %q: want a whole number", number, text)
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
