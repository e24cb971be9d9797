package mpi

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"tutti/coll"
)

// Table returns a function for a table of algorithms. The function returns the table's releases in the
// order of the rows. It reads the table once. It panics if the table is invalid, since tables are part of
// the program.
//
// The columns are library, version, collective and the fields of Entry: algorithm, id, function, params,
// requires, op_safe. Semicolons separate params and requirements. A parameter may be followed by = and its Values,
// separated by bars. In op_safe, the name of a parameter is the field Segments. Lines that begin with # are comments.
func Table(text string, rules Rules) func() []*Catalogue {
	return sync.OnceValue(func() []*Catalogue {
		all, err := ReadTable(text, rules)
		if err != nil {
			panic("mpi: algorithms.csv: " + err.Error())
		}
		return all
	})
}

var tableColumns = []string{"library", "version", "collective", "algorithm", "id", "function", "params", "requires", "op_safe"}

// ReadTable returns the releases of a table as Table does. Errors begin with the line.
func ReadTable(text string, rules Rules) ([]*Catalogue, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comment = '#'
	header, err := r.Read()
	if errors.Is(err, io.EOF) || err == nil && !slices.Equal(header, tableColumns) {
		return nil, fmt.Errorf("columns %q: want %s in this order, separated by commas", header, strings.Join(tableColumns, ","))
	}
	var all []*Catalogue
	for err == nil {
		var row []string
		if row, err = r.Read(); err != nil {
			break
		}
		if all, err = addRow(all, row, rules); err != nil {
			line, _ := r.FieldPos(0)
			err = fmt.Errorf("%d: %s: %w", line, strings.Join(row[:4], " "), err)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return all, nil
}

// EmbeddedRows returns the rows of a table below its header. It panics if the table is invalid, since tables are part of
// the program. Lines that begin with # are comments.
func EmbeddedRows(text string) [][]string {
	r := csv.NewReader(strings.NewReader(text))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		panic("mpi: embedded table: " + err.Error())
	}
	return rows[1:]
}

// addRow adds the algorithm of a row to the last release, or to a new one.
func addRow(all []*Catalogue, row []string, rules Rules) ([]*Catalogue, error) {
	library, version := row[0], row[1]
	if len(all) == 0 || all[len(all)-1].Library != library || all[len(all)-1].Version != version {
		if slices.ContainsFunc(all, func(c *Catalogue) bool { return c.Library == library && c.Version == version }) {
			return nil, errors.New("rows of this release stand above, before those of another one: want them together")
		}
		if ReleaseNumbers(version) == nil {
			return nil, fmt.Errorf("version %q: want a release like 2021.6", version)
		}
		all = append(all, &Catalogue{Library: library, Version: version, Listed: version, entries: map[coll.Collective][]Entry{}, rules: rules})
	}
	collective, err := coll.ParseCollective(row[2])
	if err != nil {
		return nil, err
	}
	e, err := parseEntry(row[3:])
	if err != nil {
		return nil, err
	}
	entries := all[len(all)-1].entries
	if slices.ContainsFunc(entries[collective], func(o Entry) bool { return o.Name == e.Name }) {
		return nil, errors.New("a row above has this algorithm")
	}
	entries[collective] = append(entries[collective], e)
	return all, nil
}

func parseEntry(row []string) (Entry, error) {
	id, err := strconv.Atoi(row[1])
	if err != nil {
		return Entry{}, fmt.Errorf("id %q: want a whole number", row[1])
	}
	e := Entry{Name: row[0], ID: id, Function: row[2], OpSafe: row[5] != "no", Values: map[string][]string{}}
	for _, param := range strings.FieldsFunc(row[3], func(r rune) bool { return r == ';' }) {
		name, values, measured := strings.Cut(param, "=")
		e.Params = append(e.Params, name)
		if measured {
			e.Values[name] = strings.Split(values, "|")
		}
	}
	if slices.Contains(e.Params, row[5]) {
		e.Segments = row[5]
	} else if row[5] != "yes" && row[5] != "no" {
		return Entry{}, fmt.Errorf("op_safe %q: want yes, no or one of the params", row[5])
	}
	if row[4] == "" {
		return e, nil
	}
	for _, word := range strings.Split(row[4], ";") {
		req, err := parseRequirement(word)
		if err != nil {
			return Entry{}, err
		}
		e.Requires = append(e.Requires, req)
	}
	return e, nil
}

// sameSeries reports whether a release belongs to the series of a catalogue's release. A series consists of the releases
// with the same first two numbers, or the same first number if the catalogue's release has only one, such as 2019.
func sameSeries(listed, release string) bool {
	have, want := ReleaseNumbers(listed), ReleaseNumbers(release)
	n := min(2, len(have))
	return n > 0 && len(want) >= n && slices.Equal(have[:n], want[:n])
}

// Near returns the catalogue that should be used for a release. `releases` must be ordered from the oldest to the newest.
// For what a series is, see sameSeries. Near prefers, in this order:
//
//   - the release itself,
//   - the last earlier release of its series,
//   - the first release of its series,
//   - the last earlier release of any series,
//   - the first release.
//
// For a name without two numbers, the result `near` is nil. The result `series` reports whether `near` is of the
// same series.
func Near(releases []*Catalogue, release string) (near *Catalogue, series bool) {
	if i := slices.IndexFunc(releases, func(c *Catalogue) bool { return c.Version == release }); i >= 0 {
		return releases[i], true
	}
	want := ReleaseNumbers(release)
	if len(want) < 2 {
		return nil, false
	}
	for _, c := range releases {
		have := ReleaseNumbers(c.Version)
		upTo := slices.Compare(have, want) <= 0
		same := sameSeries(c.Version, release)
		switch {
		case same && (!series || upTo):
			near, series = c, true
		case near == nil || upTo && !series:
			near = c
		}
	}
	return near, series
}

// ReleaseNumbers returns the leading numbers of a release. For example, 4.2.0rc1 has the numbers 4, 2 and
// 0, and 6.0.x has 6 and 0. It returns nil if the release does not begin with a number.
func ReleaseNumbers(release string) []int {
	var out []int
	for _, part := range strings.Split(release, ".") {
		digits := part
		if end := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
			digits = part[:end]
		}
		n, err := strconv.Atoi(digits)
		if err != nil {
			break
		}
		out = append(out, n)
		if digits != part {
			break
		}
	}
	return out
}

// SameRelease reports whether two names denote the same release. Suffixes such as rc2 do not count, and the
// shorter name may stand for a series: 6.0.x denotes 6.0.0, too.
func SameRelease(a, b string) bool {
	one, other := ReleaseNumbers(a), ReleaseNumbers(b)
	n := min(len(one), len(other))
	return a == b || n >= 2 && slices.Equal(one[:n], other[:n])
}

// AtLeast reports whether a release is the wanted release or a later one. Missing numbers count as 0.
func AtLeast(release string, want ...int) bool {
	have := ReleaseNumbers(release)
	for len(have) < len(want) {
		have = append(have, 0)
	}
	return slices.Compare(have, want) >= 0
}
