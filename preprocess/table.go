package preprocess

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
)

// requiredColumns are those that every table of measurements has.
var requiredColumns = []string{"collective", "algorithm", "nodes", "ppn", "msg_bytes", "time_us"}

// repColumn numbers the repetitions of a candidate.
const repColumn = "rep"

// Table is a tidy CSV of measurements: one row per candidate, in the order of
// coll.CompareCandidates whatever the order in the file.
type Table struct {
	Warnings    []Warning // rows that were left out, a line per kind
	rows        []tableRow
	repetitions []tableRow // the same where there is no column rep
}

type tableRow struct {
	coll.Measurement
	line int
}

// ReadTable reads a CSV file with the columns collective, algorithm, nodes, ppn,
// msg_bytes and time_us, and perhaps rep, cost_s, low_us, high_us and samples; any
// others are passed over. Windows line ends, a byte order mark, quoted fields and any order of rows and
// columns are fine.
//
// Rows that cannot be used are left out and counted in Warnings. Several rows of
// one candidate are repetitions: the one with the median time stands for all, the
// faster of the two in the middle when they are even. With a column rep, the number of
// the repetition from 1, they are meant to be there and are kept; see Repetitions.
// Without cost_s the cost is what the OSU micro-benchmarks would spend, see osuCost.
//
// It is an error when the file is missing, a folder, larger than MaxTableBytes or
// not text, when a required column is missing or there is a time in another unit,
// when a quote is never closed, and when no usable row is left.
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
	rows := rowReader{sheet: s, algorithms: map[string]coll.Algorithm{}}
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
	t.rows = new(problems).mergeDuplicates(t.rows) // which are no problem
	t.Warnings = rows.problems.all()
	return t, nil
}

// refuseOtherUnits refuses times whose unit is not the one of the benchmarks.
func (s *sheet) refuseOtherUnits() error {
	for _, name := range s.header {
		switch strings.ToLower(name) {
		case "time", "time_ns", "time_ms", "time_s", "time_sec", "time_seconds":
			return fmt.Errorf("%s: header row: column %q: want the time in microseconds as time_us and no other", s.path, name)
		}
	}
	return nil
}

// rowReader collects usable rows and counts the others.
type rowReader struct {
	*sheet
	algorithms map[string]coll.Algorithm // parsed so far, and one copy of each name
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

// measurement reads one row, or says what is wrong with it and of which kind that is.
func (r *rowReader) measurement(row []string, line int) (m coll.Measurement, kind string, err error) {
	m.Point, err = r.point(row)
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
		return m, badNumber, fmt.Errorf("%w: time_us %s: want microseconds without a unit", errNumber, shorten(r.cell(row, "time_us")))
	}
	if _, ok := r.column[repColumn]; ok {
		rep, err := integer(repColumn, r.cell(row, repColumn), 1, math.MaxInt32)
		if err != nil {
			return m, badNumber, err
		}
		m.Rep = int(rep)
	}
	m.CostSeconds = osuCost(m.Point, m.Seconds)
	r.optional(&m, row, line)
	return m, badTime, m.Validate()
}

// algorithm keeps one copy of each algorithm, so that rows do not hold their text.
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

// optional fills what the table has beyond the time; an unusable value counts as
// not given.
func (r *rowReader) optional(m *coll.Measurement, row []string, line int) {
	number := func(column string, parse func(string) (float64, error)) (float64, bool) {
		cell := r.cell(row, column)
		if cell == "" {
			return 0, false
		}
		v, err := parse(cell)
		if err != nil || !(v >= 0) || math.IsInf(v, 0) {
			r.problems.add(badOptional, line, fmt.Sprintf("%s %s: want a number, zero or more", column, shorten(cell)))
			return 0, false
		}
		return v, true
	}
	if v, ok := number("cost_s", parseFloat); ok {
		m.CostSeconds = v
	}
	low, okLow := number("low_us", parseMicros)
	high, okHigh := number("high_us", parseMicros)
	if okLow && okHigh {
		m.Low, m.High = low, high
	}
	const most = 1 << 53 // whole numbers are exact up to here
	if v, ok := number("samples", parseFloat); ok && v <= most {
		m.Samples = int(v)
	}
}

func parseFloat(s string) (float64, error) { return strconv.ParseFloat(s, 64) }

// osuCost is the machine time a run of the OSU micro-benchmarks spends on a
// candidate whose call takes this long: by default 1000 iterations and 200 to
// warm up for messages up to 8 KiB, 100 and 10 above (OSU micro-benchmarks 7.4,
// options of the collective benchmarks).
func osuCost(p coll.Point, seconds float64) float64 {
	if p.MsgBytes <= 8<<10 {
		return (1000 + 200) * seconds
	}
	return (100 + 10) * seconds
}

// Measurements returns the rows as measurements. The slice is the caller's.
func (t *Table) Measurements() []coll.Measurement { return measurements(t.rows) }

// Repetitions returns every row of a table with a column rep, each candidate's by the
// number of the repetition; without that column what Measurements returns.
func (t *Table) Repetitions() []coll.Measurement { return measurements(t.repetitions) }

func measurements(rows []tableRow) []coll.Measurement {
	ms := make([]coll.Measurement, len(rows))
	for i, r := range rows {
		ms[i] = r.Measurement
	}
	return ms
}

// compareMeasurements orders by candidate and repetition, then by everything that was measured, so
// that the order of a file leaves no trace.
func compareMeasurements(a, b coll.Measurement) int {
	return cmp.Or(
		coll.CompareCandidates(a.Candidate, b.Candidate),
		cmp.Compare(a.Rep, b.Rep),
		cmp.Compare(a.Seconds, b.Seconds),
		cmp.Compare(a.CostSeconds, b.CostSeconds),
		cmp.Compare(a.Low, b.Low),
		cmp.Compare(a.High, b.High),
		cmp.Compare(a.Samples, b.Samples),
	)
}
