package imb

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// row is one line of results in seconds.
type row struct {
	bytes         int64 // zero for a barrier
	repetitions   int
	min, max, avg float64
	excuse        string // why IMB did not measure the size, in its own words
}

// section is one benchmark with one number of ranks.
type section struct {
	benchmark string
	ranks     int
	rows      []row
}

// listing is what was printed.
type listing struct {
	worlds   int // how often the banner came
	version  string
	sections []section
	damaged  []string // lines that look like results and are not
}

var (
	banner    = regexp.MustCompile(`^#\s+Intel\(R\) MPI Benchmarks (\S+), MPI-1 part`)
	benchmark = regexp.MustCompile(`^# Benchmarking (\S+)`)
	worldSize = regexp.MustCompile(`^# #processes = ([0-9]+)`)
)

// parse reads the lines of a listing: sections with a header whose names tell the
// columns. Lines of libraries and launchers between them are passed over.
func parse(lines []string) listing {
	var l listing
	var columns []string
	for _, line := range lines {
		fields := strings.Fields(line)
		if m := banner.FindStringSubmatch(line); m != nil {
			l.worlds++
			l.version = m[1]
		} else if m := benchmark.FindStringSubmatch(line); m != nil {
			l.sections = append(l.sections, section{benchmark: m[1]})
			columns = nil
		} else if m := worldSize.FindStringSubmatch(line); m != nil && len(l.sections) > 0 {
			n, err := strconv.Atoi(m[1])
			if err == nil {
				l.sections[len(l.sections)-1].ranks = n
			}
		} else if len(l.sections) > 0 && slices.Contains(fields, "#repetitions") && slices.Contains(fields, "t_max[usec]") {
			columns = fields
		} else if columns != nil && len(fields) > 0 && fields[0][0] >= '0' && fields[0][0] <= '9' {
			r, ok := parseRow(columns, fields)
			if !ok {
				l.damaged = append(l.damaged, line)
				continue
			}
			last := &l.sections[len(l.sections)-1]
			last.rows = append(last.rows, r)
		}
	}
	return l
}

// parseRow reads a line under the columns; it is not ok when a field is missing,
// too much or no number. Sizes that IMB leaves out have its reason behind them, as
// "4194304 out-of-mem.; needed X=  4.003 GB".
func parseRow(columns, fields []string) (row, bool) {
	var r row
	if len(fields) > 1 && columns[0] == "#bytes" && strings.HasSuffix(fields[1], ".;") {
		n, err := strconv.ParseInt(fields[0], 10, 64)
		return row{bytes: n, excuse: strings.Join(fields[1:], " ")}, err == nil
	}
	if len(fields) != len(columns) {
		return row{}, false
	}
	for i, name := range columns {
		var err error
		switch name {
		case "#bytes":
			r.bytes, err = strconv.ParseInt(fields[i], 10, 64)
		case "#repetitions":
			r.repetitions, err = strconv.Atoi(fields[i])
		case "t_min[usec]":
			r.min, err = micros(fields[i])
		case "t_max[usec]":
			r.max, err = micros(fields[i])
		case "t_avg[usec]":
			r.avg, err = micros(fields[i])
		}
		if err != nil {
			return row{}, false
		}
	}
	return r, r.bytes >= 0 && r.repetitions > 0
}

// micros returns a time in microseconds as seconds.
func micros(text string) (float64, error) {
	us, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	if err == nil && (math.IsInf(us, 0) || !(us >= 0)) {
		err = strconv.ErrRange
	}
	return us * 1e-6, err
}
