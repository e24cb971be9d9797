package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

// WriteCurve writes every evaluation of every problem as CSV, one row each under
// a header that names the columns. Times are seconds, shares are between 0 and 1.
//
// It returns an error naming the field when a figure is NaN or infinite.
func WriteCurve(w io.Writer, f Facts) error {
	if err := check(f); err != nil {
		return err
	}
	rows := [][]string{{
		"library", "collective", "round", "trials", "points", "point_share", "machine_seconds", "source",
		"slowdown", "accuracy", "mistakes", "p95_slowdown", "worst_slowdown", "r2",
		"slowdown_upper", "mistakes_upper",
	}}
	for _, p := range f.Problems {
		for _, c := range p.Curve {
			rows = append(rows, []string{
				p.Library, p.Collective, strconv.Itoa(c.Round), strconv.Itoa(c.Trials), strconv.Itoa(c.Points),
				exact(c.PointShare), exact(c.MachineSeconds), c.Source,
				exact(c.Slowdown), exact(c.Accuracy), exact(c.Mistakes), exact(c.P95), exact(c.Worst), exact(c.R2),
				upperEnd(c, c.SlowdownUpper), upperEnd(c, c.MistakesUpper),
			})
		}
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("report as CSV: %w", err)
	}
	return nil
}

// upperEnd is the upper end of a prediction, empty where there is none.
func upperEnd(c CurvePoint, x float64) string {
	if c.SlowdownUpper == 0 {
		return ""
	}
	return exact(x)
}

// exact is the shortest text that reads back as x.
func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
