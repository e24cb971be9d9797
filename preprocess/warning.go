package preprocess

import (
	"fmt"
	"slices"
	"strings"
)

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
		for end < len(rows) && sameTrial(rows[0], rows[end]) {
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

func sameTrial(a, b tableRow) bool { return a.Candidate == b.Candidate && a.Rep == b.Rep }
