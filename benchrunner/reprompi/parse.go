package reprompi

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// key is a collective as ReproMPI calls it and the number in its column count.
type key struct {
	call  string
	count int64
}

// result is what was printed for a key.
type result struct {
	seconds []float64 // of each valid call, latest rank; raw listings
	median  float64   // of a summary
	valid   int       // calls of a summary
	invalid int       // calls that the synchronisation threw away
}

// listing is what was printed. Sizes of the datatype turn counts into bytes.
type listing struct {
	worlds    int // how often the number of ranks came
	ranks     int
	typeBytes int64
	inBytes   bool // the column of sizes has bytes
	columns   bool // a header of results came
	results   map[key]*result
	damaged   []string // lines that look like results and are not
}

// maxErrors bounds how many damaged lines are kept: a raw listing has many lines.
const maxErrors = 10

// parse reads the lines of a listing: lines "#@key=value", a header and rows of
// columns divided by white space.
func parse(lines []string) (listing, error) {
	l := listing{typeBytes: 1, results: map[key]*result{}}
	spans := map[spanKey]*span{}
	var columns []string
	for _, line := range lines {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case strings.HasPrefix(line, "#@"):
			if err := l.setting(strings.TrimPrefix(line, "#@")); err != nil {
				return listing{}, err
			}
		case strings.HasPrefix(line, "#"):
		case slices.Contains(fields, "test") && (slices.Contains(fields, "count") || slices.Contains(fields, "msize_bytes")):
			if slices.Contains(fields, "pred_method") {
				return listing{}, fmt.Errorf("a listing of mpibenchPredNreps: want one of mpibenchmark")
			}
			columns = fields
			l.columns, l.inBytes = true, slices.Contains(fields, "msize_bytes")
		case columns != nil && isCall(fields):
			if !l.row(columns, fields, spans) && len(l.damaged) < maxErrors {
				l.damaged = append(l.damaged, line)
			}
		}
	}
	l.join(spans)
	return l, nil
}

func isCall(fields []string) bool {
	return slices.ContainsFunc(fields, func(f string) bool { return strings.HasPrefix(f, "MPI_") })
}

// setting reads one key=value.
func (l *listing) setting(text string) error {
	name, value, _ := strings.Cut(strings.TrimSpace(text), "=")
	switch name {
	case "nprocs":
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("@nprocs=%s: want a number", value)
		}
		l.worlds++
		l.ranks = n
	case "datatype_size_bytes":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 1 || n > 1<<20 {
			return fmt.Errorf("@datatype_size_bytes=%s: want a number", value)
		}
		l.typeBytes = n
	}
	return nil
}

// bytes returns the size that a count stands for.
func (l *listing) bytes(count int64) int64 {
	if l.inBytes {
		return count
	}
	return count * l.typeBytes
}

// spanKey is one call of a verbose listing, span what its ranks took.
type spanKey struct {
	key
	nrep int
}
type span struct {
	longest float64
	ranks   int
}

// row reads one line of results; it is not ok when a field is missing, too much or
// no number.
func (l *listing) row(columns, fields []string, spans map[spanKey]*span) bool {
	if len(fields) != len(columns) {
		return false
	}
	values := map[string]float64{}
	var k key
	for i, name := range columns {
		if name == "test" {
			k.call = fields[i]
			continue
		}
		v, err := strconv.ParseFloat(strings.Replace(fields[i], ",", ".", 1), 64) // of the user's locale
		if err != nil || math.IsInf(v, 0) || !(v >= 0) {
			return false
		}
		values[name] = v
		if name == "count" || name == "msize_bytes" {
			if k.count, err = strconv.ParseInt(fields[i], 10, 64); err != nil {
				return false
			}
		}
	}
	r := l.results[k]
	if r == nil {
		r = &result{}
		l.results[k] = r
	}
	if median, ok := values["median_sec"]; ok {
		r.median = median
		r.valid = int(values["valid_nrep"])
		r.invalid = int(values["total_nrep"]) - r.valid
		return true
	}
	if seconds, ok := values["runtime_sec"]; ok {
		if values["errorcode"] != 0 {
			r.invalid++
			return true
		}
		r.seconds = append(r.seconds, seconds)
		return true
	}
	return verbose(k, values, spans)
}

// verbose keeps the time of one rank in one call, by its own clock.
func verbose(k key, values map[string]float64, spans map[spanKey]*span) bool {
	begin, ok1 := values["loc_tstart_sec"]
	end, ok2 := values["loc_tend_sec"]
	if !ok1 || !ok2 || end < begin {
		return false
	}
	sk := spanKey{k, int(values["nrep"])}
	s := spans[sk]
	if s == nil {
		s = &span{}
		spans[sk] = s
	}
	s.longest = max(s.longest, end-begin)
	s.ranks++
	return true
}

// join makes calls of what a verbose listing has of each rank.
func (l *listing) join(spans map[spanKey]*span) {
	keys := make([]spanKey, 0, len(spans))
	for k := range spans {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b spanKey) int { return a.nrep - b.nrep })
	for _, k := range keys {
		if s := spans[k]; l.ranks == 0 || s.ranks == l.ranks {
			l.results[k.key].seconds = append(l.results[k.key].seconds, s.longest)
		}
	}
}
