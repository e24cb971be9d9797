package online

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"

	"tutti/internal/lab"
	"tutti/preprocess"
)

// Table returns the header and a row for each outcome: the first and the last run, what
// was held to be best before the first and after the second, how much of the gain the second had,
// and what all runs lost.
func Table(outcomes []Outcome) (table.Row, []table.Row) {
	header := table.Row{"application", "policy", "first/default", "last/default", "worst/default", "last/best", "tuned/best before", "after 2", "gain of 2",
		"explored first", "last", "alarms", "regret, s", "of iota's or star's"}
	var rows []table.Row
	rivals := leastRegret(outcomes)
	for _, o := range outcomes {
		first, last := o.Runs[0], o.Runs[len(o.Runs)-1]
		worst, alarms := 0.0, 0
		for _, r := range o.Runs {
			worst = max(worst, r.OverDefault())
			alarms += len(r.Alarms)
		}
		second := o.Runs[min(1, len(o.Runs)-1)]
		beside := "-"
		if rival, known := rivals[o.Problem]; known {
			beside = ratio(last.Regret / rival)
		}
		rows = append(rows, table.Row{o.Problem, o.Policy,
			ratio(first.OverDefault()), ratio(last.OverDefault()), ratio(worst), ratio(last.OverBest()), ratio(o.Start), ratio(second.Tuned), gained(second),
			percent(first.ExploredShare()), percent(last.ExploredShare()), alarms, fmt.Sprintf("%.4g", last.Regret), beside})
	}
	return header, rows
}

// gained is the part of what the best choices spare beside the default that a run has spared;
// none where they spare less than 3 %.
func gained(r Run) string {
	if r.Default < 1.03*r.Best {
		return "-"
	}
	return percent((r.Default - r.Seconds) / (r.Default - r.Best))
}

func ratio(r float64) string { return fmt.Sprintf("%.3f", r) }

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// leastRegret returns what the better of IOTA and STAR lost with each application.
func leastRegret(outcomes []Outcome) map[string]float64 {
	least := map[string]float64{}
	for _, o := range outcomes {
		if o.Policy != PolicyIOTA && o.Policy != PolicyStar {
			continue
		}
		lost := o.Runs[len(o.Runs)-1].Regret
		if before, known := least[o.Problem]; lost > 0 && (!known || lost < before) {
			least[o.Problem] = lost
		}
	}
	return least
}

// WriteKnown writes what the policy was told as measurements, for Simulate's earlier.
func (o Outcome) WriteKnown(w io.Writer) error { return preprocess.WriteTable(w, o.Known) }

// Draw returns a figure of outcomes, averaged over their applications: each run beside the
// default and beside the best, what all runs so far lost and how many calls were made to
// learn. Losses are in runs of the best choices.
func Draw(outcomes []Outcome) lab.Figure {
	charts := []lab.Chart{
		{X: "run", Y: "time / that of the default", Ideal: 1},
		{X: "run", Y: "time / that of the best", Ideal: 1},
		{X: "run", Y: "lost so far, in runs of the best"},
		{X: "run", Y: "calls that explore, %"},
	}
	var names []string
	runs := map[string][][]Run{}
	for _, o := range outcomes {
		if _, known := runs[o.Policy]; !known {
			names = append(names, o.Policy)
		}
		runs[o.Policy] = append(runs[o.Policy], o.Runs)
	}
	for _, name := range names {
		lines := make([][]float64, len(charts))
		for k := range runs[name][0] {
			var sum [4]float64
			for _, of := range runs[name] {
				r := of[k]
				for i, v := range []float64{r.OverDefault(), r.OverBest(), r.Regret / r.Best, 100 * r.ExploredShare()} {
					sum[i] += v / float64(len(runs[name]))
				}
			}
			for i, v := range sum {
				lines[i] = append(lines[i], v)
			}
		}
		for i := range charts {
			charts[i].Lines = append(charts[i].Lines, lab.Line{Name: name, Y: lines[i]})
		}
	}
	return lab.NewFigure("online", "Learning while applications run", charts)
}

// mostServed is how many algorithms DrawServed shows, those that served most in the last run.
const mostServed = 6

// DrawServed returns a figure of which algorithms served the class that takes most time, run by
// run.
func (o Outcome) DrawServed() lab.Figure {
	order := make([]int, len(o.Class.Algorithms))
	for a := range order {
		order[a] = a
	}
	last := o.Runs[len(o.Runs)-1].Served
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(last[b], last[a]) })
	chart := lab.Chart{X: "run", Y: fmt.Sprintf("calls of %v, %%", o.Class.Point)}
	for _, a := range order[:min(mostServed, len(order))] {
		line := lab.Line{Name: o.Class.Algorithms[a].String()}
		for _, r := range o.Runs {
			all := 0
			for _, n := range r.Served {
				all += n
			}
			line.Y = append(line.Y, 100*float64(r.Served[a])/float64(max(1, all)))
		}
		chart.Lines = append(chart.Lines, line)
	}
	return lab.NewFigure("served", fmt.Sprintf("%s: what %s runs", o.Problem, o.Policy), []lab.Chart{chart})
}
