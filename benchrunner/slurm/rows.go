package slurm

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// row contains the fields of a job that squeue or sacct shows. Unknown times are zero.
type row struct {
	id, state                 string
	submitted, started, ended time.Time
	name, dir                 string
	last                      string // squeue: the reason; sacct: the highest exit code of a step, code:signal
}

// separator is the character between columns. Unlike "|" and spaces, it does not occur inside a column.
const separator = "\x1f"

// Formats that print the columns of a row, for squeue --format and sacct --format.
var (
	squeueColumns = strings.Join([]string{"%i", "%T", "%V", "%S", "%e", "%j", "%Z", "%r"}, separator)
	sacctColumns  = "JobID,State,Submit,Start,End,JobName,WorkDir,DerivedExitCode"
)

// parseRows parses rows, one for each line. It skips lines that are not rows, because the names of other
// jobs may contain line feeds.
func parseRows(text string) []row {
	var rows []row
	for line := range strings.Lines(text) {
		if r, err := parseRow(strings.TrimSuffix(line, "\n")); err == nil {
			rows = append(rows, r)
		}
	}
	return rows
}

func parseRow(line string) (row, error) {
	f := strings.Split(line, separator)
	if len(f) != 8 {
		return row{}, fmt.Errorf("%d columns, want 8: %.200q", len(f), line)
	}
	if f[0] == "" || strings.Trim(f[0], "0123456789") != "" {
		return row{}, fmt.Errorf("job id %q: want digits", f[0]) // an array task or a component of a heterogeneous job
	}
	r := row{id: f[0], state: state(f[1]), name: f[5], dir: f[6], last: f[7]}
	for i, t := range []*time.Time{&r.submitted, &r.started, &r.ended} {
		var err error
		if *t, err = parseTime(f[2+i]); err != nil {
			return row{}, err
		}
	}
	return r, nil
}

// state returns the state without the user, as in "CANCELLED by 1000", and without the character that marks
// a truncated state.
func state(s string) string {
	s, _, _ = strings.Cut(s, " ")
	return strings.TrimSuffix(s, "+")
}

// parseTime parses a time in seconds since 1970, the format that SLURM_TIME_FORMAT requests. Older releases
// of Slurm ignore this variable and print their default format, here in UTC.
func parseTime(s string) (time.Time, error) {
	switch s {
	case "", "N/A", "Unknown", "None", "(null)", "0":
		return time.Time{}, nil
	}
	if seconds, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.Unix(seconds, 0), nil
	}
	t, err := time.Parse("2006-01-02T15:04:05", s)
	if err != nil {
		return time.Time{}, fmt.Errorf("time %q: want seconds since 1970 or 2006-01-02T15:04:05", s)
	}
	return t, nil
}

// parseDuration parses a time limit of Slurm: [days-][[hours:]minutes:]seconds. After days, the hours alone
// are also valid. It returns 0 for UNLIMITED.
func parseDuration(s string) (time.Duration, error) {
	switch s {
	case "UNLIMITED", "NONE", "INFINITE":
		return 0, nil
	}
	errLimit := fmt.Errorf("time limit %q: want [days-]hours:minutes:seconds or UNLIMITED", s)
	days, clock, long := strings.Cut(s, "-")
	if !long {
		days, clock = "0", s
	}
	parts := strings.Split(clock, ":")
	if long { // days-hours[:minutes[:seconds]]
		for len(parts) < 3 {
			parts = append(parts, "0")
		}
	}
	if len(parts) > 3 {
		return 0, errLimit
	}
	units := []time.Duration{time.Hour, time.Minute, time.Second}[3-len(parts):]
	total := time.Duration(0)
	add := func(text string, unit time.Duration) bool {
		n, err := strconv.ParseUint(text, 10, 16)
		total += time.Duration(n) * unit
		return err == nil
	}
	ok := add(days, 24*time.Hour)
	for i, p := range parts {
		ok = add(p, units[i]) && ok
	}
	if !ok {
		return 0, errLimit
	}
	return total, nil
}
