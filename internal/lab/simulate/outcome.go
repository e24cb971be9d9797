package simulate

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"tutti/preprocess"
	"tutti/report"
)

// Table returns a table with one row for each outcome. The times of runs are divided by the time with the
// library's default algorithms. The columns "tuned/best before" and "after 2" divide the time with the policy's
// choices by the time with the best algorithms: before the first run, and after the second.
func Table(outcomes []Outcome) string {
	t := report.NewTable(table.Row{"application", "policy", "first/default", "last/default", "worst/default", "last/best", "tuned/best before", "after 2", "gain of 2",
		"explored first", "last", "changes", "regret, s", "lost gain"})
	for _, o := range outcomes {
		first, last := o.Runs[0], o.Runs[len(o.Runs)-1]
		worst, changes := 0.0, 0
		for _, r := range o.Runs {
			worst = max(worst, r.OverDefault())
			changes += len(r.Changes)
		}
		second := o.Runs[min(1, len(o.Runs)-1)]
		t.AppendRow(table.Row{o.Application, o.Policy,
			ratio(first.OverDefault()), ratio(last.OverDefault()), ratio(worst), ratio(last.OverBest()), ratio(o.Start), ratio(second.Tuned), gainOf(second),
			percent(first.ExploredShare()), percent(last.ExploredShare()), changes, fmt.Sprintf("%.4g", last.Regret), percent(o.LostGain())})
	}
	return t.Render()
}

// gainOf returns the time that a run saved compared with the default, as a share of the possible saving. It returns
// "-" if the possible saving is less than 3 %.
func gainOf(r RunOutcome) string {
	if r.Default < 1.03*r.Best {
		return "-"
	}
	return percent((r.Default - r.Seconds) / (r.Default - r.Best))
}

func ratio(r float64) string { return fmt.Sprintf("%.3f", r) }

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// WriteMeasured writes the times that the policy observed as a table of measurements. `earlier`
// of Run accepts such measurements.
func (o Outcome) WriteMeasured(w io.Writer) error { return preprocess.WriteTable(w, o.Measured) }
