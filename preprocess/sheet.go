package preprocess

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tutti/coll"
	"tutti/internal/infile"
)

// MaxTableBytes is the largest accepted size of a CSV file. A file of this size has about six million rows,
// a hundred times as many as the largest known published set of collective timings.
const MaxTableBytes = 1 << 28

// sheet reads a CSV file whose header names the columns.
type sheet struct {
	path    string
	csv     *csv.Reader
	comment string // the first line, if it is a comment
	header  []string
	column  map[string]int // name to index
}

// readFile opens a CSV file and parses it with the function `read`. Every error begins with `what`, the kind of file.
func readFile[T any](what, path string, read func(io.Reader, string) (T, error)) (v T, err error) {
	f, err := infile.Open(path, MaxTableBytes)
	if err != nil {
		return v, fmt.Errorf("%s: %w", what, err)
	}
	defer f.Close()
	if v, err = read(f, path); err != nil {
		return v, fmt.Errorf("%s: %w", what, err)
	}
	return v, nil
}

// newSheet reads the header. It skips a byte order mark and comments before the header: lines that begin with #.
func newSheet(r io.Reader, path string) (*sheet, error) {
	buffered := bufio.NewReaderSize(infile.SkipByteOrderMark(r), 64<<10)
	start, err := buffered.Peek(buffered.Size())
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if bytes.IndexByte(start, 0) >= 0 {
		return nil, fmt.Errorf("%s: binary, want CSV text in UTF-8", path)
	}
	s := &sheet{path: path, csv: csv.NewReader(buffered), column: map[string]int{}}
	if bytes.HasPrefix(start, []byte("#")) {
		line, _, _ := bytes.Cut(start, []byte("\n"))
		s.comment = strings.TrimSpace(string(line))
	}
	s.csv.Comment = '#'
	s.csv.FieldsPerRecord = -1 // next checks the number of fields
	s.csv.TrimLeadingSpace = true
	header, err := s.csv.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: empty, want a header row", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: header row: %w", path, err)
	}
	return s, s.setHeader(header)
}

func (s *sheet) setHeader(header []string) error {
	for i, name := range header {
		name = strings.TrimSpace(name)
		if !utf8.ValidString(name) {
			return fmt.Errorf("%s: header row: column %d is not UTF-8 text", s.path, i+1)
		}
		if _, twice := s.column[name]; twice {
			return fmt.Errorf("%s: header row: column %q is there twice", s.path, name)
		}
		s.column[name] = i
		s.header = append(s.header, name)
	}
	return nil
}

func (s *sheet) require(columns []string) error {
	var missing []string
	for _, name := range columns {
		if _, ok := s.column[name]; !ok {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s: header row %s: no column %s, want the columns %s separated by commas",
			s.path, shorten(strings.Join(s.header, ",")), strings.Join(missing, ", "), strings.Join(columns, ","))
	}
	return nil
}

// errTorn is the error for a row with a misplaced quote, or with another number of fields than the header.
var errTorn = errors.New("torn row")

// next returns the next row and its line number, or io.EOF at the end. After an error that matches errTorn,
// next may be called again.
func (s *sheet) next() ([]string, int, error) {
	row, err := s.csv.Read()
	var syntax *csv.ParseError
	switch {
	case errors.As(err, &syntax) && syntax.Line > syntax.StartLine:
		// The CSV reader took the rest of the file for a single field.
		return nil, 0, fmt.Errorf("%s:%d: a quote is opened and not closed on its line", s.path, syntax.StartLine)
	case errors.As(err, &syntax):
		return nil, syntax.Line, fmt.Errorf("%w: %w", errTorn, syntax.Err)
	case errors.Is(err, io.EOF):
		return nil, 0, io.EOF
	case err != nil:
		return nil, 0, fmt.Errorf("%s: %w", s.path, err)
	}
	line, _ := s.csv.FieldPos(0)
	if len(row) != len(s.header) {
		hint := ""
		if len(row) > len(s.header) { // perhaps decimal commas
			hint = ": write decimals with a point"
		}
		return nil, line, fmt.Errorf("%w: %d fields, want %d%s", errTorn, len(row), len(s.header), hint)
	}
	return row, line, nil
}

// eachRow calls f for every row, up to the first error, which names file and line. A file without rows is an error.
func (s *sheet) eachRow(f func(row []string, line int) error) error {
	for rows := 0; ; rows++ {
		row, line, err := s.next()
		switch {
		case errors.Is(err, io.EOF) && rows == 0:
			return fmt.Errorf("%s: a header row and no data rows", s.path)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, errTorn):
			return err
		}
		if err == nil {
			err = f(row, line)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", s.path, line, err)
		}
	}
}

// cell returns the text of a row in a column, without surrounding blanks, or "" if there is no such column.
func (s *sheet) cell(row []string, name string) string {
	i, ok := s.column[name]
	if !ok {
		return ""
	}
	return strings.TrimSpace(row[i])
}

// others returns the columns that are neither known nor those of a point.
func (s *sheet) others(known ...string) []int {
	var out []int
	for i, name := range s.header {
		if !slices.Contains(known, name) && !slices.Contains(pointColumns, name) {
			out = append(out, i)
		}
	}
	return out
}

// pointColumns lists the columns of a point.
var pointColumns = slices.Concat([]string{"collective"}, coll.AxisNames())

// processesColumn may replace the column nodes. It has the number of processes of the communicator.
const processesColumn = "processes"

// point reads a point from a row; `parse` reads the name of the collective. The message size of a barrier is always
// zero. The layout is given by ppn and nodes, or by ppn and processes.
func (s *sheet) point(row []string, parse func(string) (coll.Collective, error)) (p coll.Point, err error) {
	if p.Collective, err = parse(s.cell(row, "collective")); err != nil {
		return p, err
	}
	_, byNodes := s.column["nodes"]
	for _, a := range coll.Axes {
		column := a.Name
		if column == "nodes" && !byNodes {
			column = processesColumn
		}
		n, err := integer(column, s.cell(row, column), a.Least, a.Most)
		if err != nil {
			return p, err
		}
		a.Set(&p, n)
	}
	if !byNodes {
		processes := p.Nodes
		p.PPN = min(p.PPN, processes)
		p.Nodes = (processes + p.PPN - 1) / p.PPN
	}
	if !p.Collective.Sized() {
		p.MsgBytes = 0
	}
	return p, nil
}

// errNumber is the error for a cell that has no number in the allowed range.
var errNumber = errors.New("bad number")

func integer(column, cell string, lowest, highest int64) (int64, error) {
	n, err := strconv.ParseInt(cell, 10, 64)
	if err != nil || n < lowest || n > highest {
		return 0, fmt.Errorf("%w: %s %s: want a whole number from %d, without a unit", errNumber, column, shorten(cell), lowest)
	}
	return n, nil
}

// shorten quotes and truncates text from a file, for use in a message.
func shorten(s string) string {
	const maxLen = 60
	if len(s) > maxLen {
		return fmt.Sprintf("%.*q…", maxLen, s)
	}
	return fmt.Sprintf("%q", s)
}
