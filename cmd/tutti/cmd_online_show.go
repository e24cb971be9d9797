package main

import (
	"fmt"
	"tutti/online"

	"github.com/jedib0t/go-pretty/v6/table"
)

// showLearnt prints what tutti online update has learnt.
func (a *app) showLearnt(r online.Report) {
	fmt.Fprintf(a.stdout, "calls %d, jobs %d\n", r.Calls, r.AllJobs)
	if r.Calls > 0 {
		a.showPrice(r.Price)
	}
	for _, d := range r.Drift {
		if d.Candidates > 0 {
			fmt.Fprintf(a.stdout, "%s: %d candidates timed by applications since differ by %.1f %%, times are %.3f of what they were\n",
				d.Source, d.Candidates, 100*d.Change, d.Ratio)
		}
	}
	for _, t := range r.TimeChanges {
		if t.Point == nil {
			fmt.Fprintf(a.stdout, "%s: all calls took %.2f times as long\n", t.Job, t.Factor)
		} else {
			fmt.Fprintf(a.stdout, "%s: from here on %s takes %.2f times as long at %s\n", t.Job, t.Algorithm, t.Factor, t.Point)
		}
	}
	if len(r.Classes) == 0 {
		return
	}
	var rows []table.Row
	for _, c := range r.Classes {
		since, between := "", ""
		if !c.Since.IsZero() {
			since = c.Since.Format("2006-01-02 15:04")
		}
		if c.FasterLow > 0 {
			between = fmt.Sprintf("%.2f to %.2f", c.FasterLow, c.FasterHigh)
		}
		rows = append(rows, table.Row{c.Point, c.Calls, c.Selected, fmt.Sprintf("%.2f", c.Faster), between, fmt.Sprintf("%d of %d", c.Explored, c.Of), since, c.Why})
	}
	a.printTable(table.Row{"point", "calls", "selected", "faster", "measured", "explored", "since", "why"}, rows)
}

func (a *app) showPrice(p online.Price) {
	fmt.Fprintf(a.stdout, "exploring in %.0f %% of calls took %.1f %% of collective time\n", 100*p.Explore, 100*p.Cost)
	if p.OverDefault > 0 {
		fmt.Fprintf(a.stdout, "all calls, these among them, took %.3f of the default (%.3f to %.3f)\n", p.OverDefault, p.Low, p.High)
	}
}
