package preprocess

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"tutti/coll"
)

// requiredColumns lists the columns that every table of measurements must have.
var requiredColumns = slices.Concat(pointColumns[:1], []string{"algorithm"}, pointColumns[1:], []string{"time_us"})

// repColumn is the name of the column that numbers repetitions.
const repColumn = "rep"

// Table holds the measurements of a CSV file. It has one row for each candidate, sorted by
// coll.CompareCandidates.
type Table struct {
	Warnings    []Warning // about rows that were left out, one for each kind
	rows        []tableRow
	repetitions []tableRow // all rows if the table has a column rep, otherwise the same as rows
}

type tableRow struct {
	coll.Measurement
	line int
}

// ReadTable reads a CSV file with the columns collective, algorithm, nodes, ppn, msg_bytes and
// time_us, and optionally rep, cost_s, low_us, high_us, samples and overall_us. Other columns are ignored.
// Windows line ends, a byte order mark, quoted fields and any order of rows and columns are
// accepted.
//
// Invalid rows are ignored and counted in Warnings. Several rows of one candidate are repetitions. Of these
// the row with the median time is used; for an even number it is the faster of the two middle rows. The
// column rep numbers repetitions from 1. If a table has this column, repetitions cause no warning, and
// Repetitions returns all of them. If there is no column cost_s, the cost is that of the OSU
// micro-benchmarks; see OSUCost.
//
// It returns an error if the file is missing, is a folder, is larger than MaxTableBytes or is not text.
// Missing columns, times in other units, an unclosed quote and a table without a valid row are errors as
// well.
func ReadTable(path string) (*Table, error) {
	return readFile("table", path, readTable)
}

func readTable(r io.Reader, path string) (*Table, error) {
	s, err := newSheet(r, path)
	if err != nil {
		return nil, err
	}
	if err := s.refuseOtherUnits(); err != nil {
		return nil, err
	}
	if err := s.require(requiredColumns); err != nil {
		return nil, err
	}
	rows := rowReader{sheet: s, algorithms: map[string]coll.Algorithm{}, problems: problems{}}
	total, err := rows.readAll()
	switch {
	case err != nil:
		return nil, err
	case total == 0:
		return nil, fmt.Errorf("%s: a header row and no data rows", path)
	case len(rows.kept) == 0:
		return nil, fmt.Errorf("%s: none of %d rows is usable: %s", path, total, rows.problems.all()[0])
	}
	t := &Table{}
	t.repetitions = rows.problems.mergeDuplicates(rows.kept)
	t.rows = slices.Clone(t.repetitions)
	for i := range t.rows {
		t.rows[i].Rep = 0
	}
	t.rows = problems{}.mergeDuplicates(t.rows) // in a table with a column rep, repetitions cause no warning
	t.Warnings = rows.problems.all()
	return t, nil
}

func (s *sheet) refuseOtherUnits() error {
	for _, name := range s.header {
		switch strings.ToLower(name) {
		case "time", "time_ns", "time_ms", "time_s", "time_sec", "time_seconds":
			return fmt.Errorf("%s: header row: column %q: want the time in microseconds as time_us and no other", s.path, name)
		}
	}
	return nil
}

// rowReader collects the valid rows of a table and counts the invalid ones.
type rowReader struct {
	*sheet
	algorithms map[string]coll.Algorithm // by name; rows share them
	kept       []tableRow
	problems   problems
}

func (r *rowReader) readAll() (total int, err error) {
	for {
		row, line, err := r.next()
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		total++
		switch {
		case errors.Is(err, errTorn):
			r.problems.add(tornRow, line, err.Error())
			continue
		case err != nil:
			return total, err
		}
		m, kind, err := r.measurement(row, line)
		if err != nil {
			r.problems.add(kind, line, err.Error())
			continue
		}
		r.kept = append(r.kept, tableRow{Measurement: m, line: line})
	}
}

// measurement parses one row. If the row is invalid, it returns an error, and in `kind` the kind of the warning
// about the row.
func (r *rowReader) measurement(row []string, line int) (m coll.Measurement, kind string, err error) {
	m.Point, err = r.point(row, coll.ParseCollective)
	if errors.Is(err, errNumber) {
		return m, badNumber, err
	}
	if err != nil {
		return m, unknownCollective, err
	}
	if m.Algorithm, err = r.algorithm(r.cell(row, "algorithm")); err != nil {
		return m, badAlgorithm, err
	}
	if m.Seconds, err = parseMicros(r.cell(row, "time_us")); err != nil {
		return m, badNumber, fmt.Errorf("%w: time_us %w, in microseconds without a unit", errNumber, err)
	}
	if _, ok := r.column[repColumn]; ok {
		rep, err := integer(repColumn, r.cell(row, repColumn), 1, math.MaxInt32)
		if err != nil {
			return m, badNumber, err
		}
		m.Rep = int(rep)
	}
	m.CostSeconds = OSUCost(m.Point, m.Seconds)
	r.optional(&m, row, line)
	return m, badTime, cmp.Or(coll.CheckCall(m.Seconds), m.Validate())
}

// algorithm returns the algorithm with the given name. It stores a copy of each name, so that the text of
// the rows can be freed.
func (r *rowReader) algorithm(name string) (coll.Algorithm, error) {
	if a, ok := r.algorithms[name]; ok {
		return a, nil
	}
	a, err := coll.ParseAlgorithm(name)
	if err == nil {
		name = strings.Clone(name)
		a, err = coll.ParseAlgorithm(name)
		r.algorithms[name] = a
	}
	return a, err
}

// optional parses the optional columns of a row. It ignores a value that is invalid, and adds a warning.
func (r *rowReader) optional(m *coll.Measurement, row []string, line int) {
	number := func(column string, parse func(string) (float64, error)) (float64, bool) {
		cell := r.cell(row, column)
		if cell == "" {
			return 0, false
		}
		v, err := parse(cell)
		if err != nil || !(v >= 0 && v <= coll.LongestCall) {
			r.problems.add(badOptional, line, fmt.Sprintf("%s %s: want a decimal number from 0 to %d", column, shorten(cell), coll.LongestCall))
			return 0, false
		}
		return v, true
	}
	if v, ok := number("cost_s", coll.ParseNumber); ok {
		m.CostSeconds = v
	}
	low, okLow := number("low_us", parseMicros)
	high, okHigh := number("high_us", parseMicros)
	if okLow && okHigh {
		m.Low, m.High = low, high
	}
	m.Overall, _ = number("overall_us", parseMicros)
	if cell := r.cell(row, "samples"); cell != "" {
		n, err := integer("samples", cell, 0, math.MaxInt32)
		if err != nil {
			r.problems.add(badOptional, line, err.Error())
		}
		m.Samples = int(n)
	}
}

// The numbers of timed and warm-up calls that an OSU micro-benchmark makes: 1000 + 200 for messages of up to
// 8 KiB, and 100 + 10 for larger messages. Source: OSU micro-benchmarks 7.4, defaults of the collective
// benchmarks.
const (
	osuSmallBytes = 8 << 10
	osuSmallCalls = 1000 + 200
	osuLargeCalls = 100 + 10
)

// OSUCost returns the machine time in seconds that the OSU micro-benchmarks take for a candidate with the given time of
// one call.
func OSUCost(p coll.Point, seconds float64) float64 {
	if p.MsgBytes <= osuSmallBytes {
		return osuSmallCalls * seconds
	}
	return osuLargeCalls * seconds
}

// Measurements returns one measurement for each candidate. The caller may change the slice.
func (t *Table) Measurements() []coll.Measurement { return measurements(t.rows) }

// Repetitions returns every row of a table that has the column rep, sorted by candidate and repetition. For
// a table without this column it returns the same as Measurements.
func (t *Table) Repetitions() []coll.Measurement { return measurements(t.repetitions) }

func measurements(rows []tableRow) []coll.Measurement {
	ms := make([]coll.Measurement, len(rows))
	for i, r := range rows {
		ms[i] = r.Measurement
	}
	return ms
}

// compareMeasurements orders measurements by candidate, by repetition, and then by all measured values.
// Results therefore do not depend on the order of the rows in a file.
func compareMeasurements(a, b coll.Measurement) int {
	return cmp.Or(
		coll.CompareCandidates(a.Candidate, b.Candidate),
		cmp.Compare(a.Rep, b.Rep),
		cmp.Compare(a.Seconds, b.Seconds),
		cmp.Compare(a.CostSeconds, b.CostSeconds),
		cmp.Compare(a.Low, b.Low),
		cmp.Compare(a.High, b.High),
		cmp.Compare(a.Samples, b.Samples),
		cmp.Compare(a.Overall, b.Overall),
	)
}

// The kinds of warnings, in the order of Table.Warnings.
const (
	tornRow           = "torn"
	unknownCollective = "unknown collective"
	badAlgorithm      = "bad algorithm name"
	badNumber         = "bad number"
	badTime           = "impossible time"
	badOptional       = "optional value ignored"
	duplicateRow      = "repeated candidate"
)

var warningKinds = []string{tornRow, unknownCollective, badAlgorithm, badNumber, badTime, badOptional, duplicateRow}

// Warning says how many rows of a table have the same problem.
type Warning struct {
	Kind   string
	Count  int    // of rows
	Line   int    // of the first row
	Detail string // description of the problem in the first such row
}

// String returns a text such as "2 x bad number, first at line 7: ...".
func (w Warning) String() string {
	return fmt.Sprintf("%d x %s, first at line %d: %s", w.Count, w.Kind, w.Line, w.Detail)
}

type problems map[string]Warning // by kind

func (p problems) add(kind string, line int, detail string) {
	w, ok := p[kind]
	if !ok || line < w.Line {
		w.Kind, w.Line, w.Detail = kind, line, clip(detail)
	}
	w.Count++
	p[kind] = w
}

// clip truncates a detail. A detail can be long, because it may contain the text of a cell.
func clip(detail string) string {
	const maxLen = 300
	if len(detail) > maxLen {
		return strings.ToValidUTF8(detail[:maxLen], "") + "…"
	}
	return detail
}

func (p problems) all() []Warning {
	var out []Warning
	for _, kind := range warningKinds {
		if w, ok := p[kind]; ok {
			out = append(out, w)
		}
	}
	return out
}

// mergeDuplicates sorts the rows and keeps one row for each candidate and repetition. This is the row with
// the median time, or the faster of the two middle rows.
func (p problems) mergeDuplicates(rows []tableRow) []tableRow {
	slices.SortFunc(rows, func(a, b tableRow) int { return compareMeasurements(a.Measurement, b.Measurement) })
	kept := rows[:0]
	for len(rows) > 0 {
		end := 1
		for end < len(rows) && rows[end].Candidate == rows[0].Candidate && rows[end].Rep == rows[0].Rep {
			end++
		}
		first := rows[0].line
		for _, r := range rows[1:end] {
			first = min(first, r.line)
		}
		for _, r := range rows[:end] {
			if r.line != first {
				p.add(duplicateRow, r.line, fmt.Sprintf("%v is at line %d, too; the row with the median time is used", r.Candidate, first))
			}
		}
		kept = append(kept, rows[(end-1)/2])
		rows = rows[end:]
	}
	return kept
}
