package lab

import (
	"encoding/csv"
	"io"
	"strconv"
)

// CurveHeader names the columns of a convergence curve.
var CurveHeader = []string{
	"data", "collective", "strategy", "launch", "seed", "round", "point_share", "machine_seconds", "machine_share",
	"slowdown", "accuracy", "mistakes",
}

// WriteCurve writes the evaluations of outcomes as CSV, one row for each.
func WriteCurve(w io.Writer, outcomes []Outcome) error {
	out := csv.NewWriter(w)
	records := [][]string{CurveHeader}
	for _, o := range outcomes {
		for _, s := range o.Curve {
			records = append(records, []string{
				o.Data, o.Collective, o.Strategy, o.Launch, strconv.FormatUint(o.Seed, 10), strconv.Itoa(s.Round),
				number(s.PointShare), number(s.MachineSeconds), number(s.MachineShare),
				number(s.Slowdown), number(s.Accuracy), number(s.Mistakes),
			})
		}
	}
	return out.WriteAll(records)
}

// number writes what a reader of a CSV wants: six digits tell any two results apart.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
