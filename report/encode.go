package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"tutti/activelearn"
)

// WriteJSON writes a value as indented JSON ending in a newline. A nil slice is written as [], like an empty one.
//
// If a number is NaN or infinite, WriteJSON writes nothing and returns an error that names the number's place.
func WriteJSON(w io.Writer, v any) error {
	text, err := marshal(v, jsontext.WithIndent(" "))
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// marshal encodes a value like package encoding/json. But a nil slice becomes [], no character is escaped for HTML,
// and an error names the place of the value that cannot be encoded.
func marshal(v any, more ...jsonv2.Options) ([]byte, error) {
	return jsonv2.Marshal(v, jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false),
		jsonv2.FormatNilSliceAsNull(false), jsontext.EscapeForHTML(false), jsonv2.JoinOptions(more...))
}

// WriteCurve writes all evaluations of all problems as CSV: a header with the names of the columns, then
// one row for each evaluation. Times are in seconds. Shares are between 0 and 1.
func WriteCurve(w io.Writer, f Facts) error {
	rows := [][]string{{
		"library", "collective", "round", "trials", "points", "point_share", "machine_seconds", "source",
		"slowdown", "accuracy", "mistakes", "p95_slowdown", "worst_slowdown", "r2",
		"slowdown_upper", "mistakes_upper",
	}}
	for _, p := range f.Problems {
		for _, c := range p.Curve {
			rows = append(rows, []string{
				p.Library, p.Collective, strconv.Itoa(c.Round), strconv.Itoa(c.Trials), strconv.Itoa(c.Points),
				exact(c.PointShare), exact(c.MachineSeconds), string(c.Source),
				exact(c.Slowdown), exact(c.Accuracy), exact(c.Mistakes), exact(c.P95Slowdown), exact(c.WorstSlowdown), exact(c.R2),
				upperEnd(c, c.SlowdownUpper), upperEnd(c, c.MistakesUpper),
			})
		}
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("report as CSV: %w", err)
	}
	return nil
}

// upperEnd formats x, a predicted upper limit. It returns "" if the evaluation has no predicted limits.
func upperEnd(c activelearn.Evaluation, x float64) string {
	if c.SlowdownUpper == 0 {
		return ""
	}
	return exact(x)
}

func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
