package osu

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// row is one line of results in seconds. What a listing does not have is zero.
type row struct {
	bytes         int64 // zero for a barrier
	avg, min, max float64
	median        float64 // over the calls, of the mean over the ranks
	iterations    int
	wrong         bool // the check of the data failed
}

// section is the results for one datatype.
type section struct {
	datatype string // as MPI_CHAR; empty before 7.1
	rows     []row
}

// listing is what was printed.
type listing struct {
	title    string // as Allreduce
	version  string // as 7.4
	headers  int    // how often the title came: once for each world
	sections []section
	damaged  []string // lines that look like results and are not
}

// The title of a release built for accelerators has -CUDA or the like after MPI.
var titleForm = regexp.MustCompile(`# OSU MPI(?:-\S+)? (.+?) Latency Test(?: v(\S+))?\s*$`)

// parse reads the lines of a listing. Lines of libraries and launchers between
// them are passed over.
func parse(lines []string) (listing, error) {
	var l listing
	var columns []string
	for _, line := range lines {
		// A warning about memory has no end of line: the title follows in it.
		if m := titleForm.FindStringSubmatch(line); m != nil {
			l.headers++
			l.title, l.version, columns = m[1], m[2], nil
			continue
		}
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, "# Datatype:"):
			name := strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(text, "# Datatype:")), ".")
			l.sections = append(l.sections, section{datatype: name})
		case strings.HasPrefix(text, "# Size ") || strings.HasPrefix(text, "# Avg Latency"):
			names, err := header(text)
			if err != nil {
				return listing{}, err
			}
			columns = names
			if len(l.sections) == 0 {
				l.sections = append(l.sections, section{})
			}
		case columns != nil && looksLikeRow(text):
			r, ok := parseRow(columns, text)
			if !ok {
				l.damaged = append(l.damaged, line)
				continue
			}
			last := &l.sections[len(l.sections)-1]
			last.rows = append(last.rows, r)
		}
	}
	return l, nil
}

var gap = regexp.MustCompile(`\s{2,}`)

// header returns the names of the columns, which have single spaces inside. The
// error is for listings of other kinds of programs.
func header(text string) ([]string, error) {
	names := gap.Split(strings.TrimSpace(strings.TrimPrefix(text, "#")), -1)
	for _, n := range names {
		switch {
		case n == "Overall(us)":
			return nil, fmt.Errorf("a listing of a non-blocking collective: want a blocking one")
		case n == "Avg Latency(us)":
			return names, nil
		}
	}
	return nil, fmt.Errorf("columns %q: want Avg Latency(us) among them", strings.Join(names, ", "))
}

// looksLikeRow reports whether a line begins with a number.
func looksLikeRow(text string) bool { return text != "" && text[0] >= '0' && text[0] <= '9' }

var tailForm = regexp.MustCompile(`^P([0-9]+) Tail Lat\(us\)$`)

// parseRow reads a line under the columns; it is not ok when a field is missing,
// too much or no number.
func parseRow(columns []string, text string) (row, bool) {
	fields := strings.Fields(text)
	if len(fields) != len(columns) {
		return row{}, false
	}
	var r row
	for i, name := range columns {
		var err error
		switch name {
		case "Size":
			r.bytes, err = strconv.ParseInt(fields[i], 10, 64)
		case "Avg Latency(us)":
			r.avg, err = micros(fields[i])
		case "Min Latency(us)":
			r.min, err = micros(fields[i])
		case "Max Latency(us)":
			r.max, err = micros(fields[i])
		case "Iterations":
			r.iterations, err = strconv.Atoi(fields[i])
		case "Validation":
			r.wrong = fields[i] != "Pass"
		default:
			if m := tailForm.FindStringSubmatch(name); m != nil && m[1] == "50" {
				r.median, err = micros(fields[i])
			}
		}
		if err != nil {
			return row{}, false
		}
	}
	return r, r.bytes >= 0 && r.iterations >= 0
}

// number is what OSU prints: two digits behind the point, or behind the comma of
// the user's locale.
var number = regexp.MustCompile(`^[0-9]+([.,][0-9]+)?$`)

// micros returns a time in microseconds as seconds.
func micros(text string) (float64, error) {
	if !number.MatchString(text) {
		return 0, fmt.Errorf("%q is no time", text)
	}
	us, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	return us * 1e-6, err
}
