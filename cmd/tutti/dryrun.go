package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"tutti/campaign/assembly"
)

// tellDryRun prints the jobs of the first round, a row without a job for each problem that
// cannot be measured, why what cannot be measured, and if wanted
// the commands and scripts.
func (a *app) tellDryRun(d assembly.Forecast, scripts bool, output string) error {
	if output == "json" {
		return a.printJSON(d)
	}
	rows := make([]table.Row, len(d.Jobs))
	for i, j := range d.Jobs {
		rows[i] = table.Row{j.Name, j.Nodes, j.PPN, seconds(j.Limit), j.Starts, j.Candidates, hours(j.Expected), hours(j.NodeHours)}
	}
	for _, l := range d.LeftOut {
		if l.Whole() {
			rows = append(rows, table.Row{l.Problem, 0, 0, "", 0, 0, "0", "0"})
		}
	}
	a.printTable(table.Row{"job", "nodes", "ppn", "limit", "starts", "candidates", "node-hours", "at most"}, rows)
	fmt.Fprintf(a.stdout, "first round: %d jobs, %s node-hours at most; whole campaign: about %s node-hours, %s at most\n",
		len(d.Jobs), hours(d.RoundNodeHours), hours(d.Expected), hours(d.NodeHours))
	for _, l := range d.LeftOut {
		fmt.Fprintln(a.stdout, "warning:", l)
	}
	if !scripts {
		return nil
	}
	for _, j := range d.Jobs {
		fmt.Fprintf(a.stdout, "\n# %s: %s\n", j.Name, strings.Join(j.Carries, ", "))
		fmt.Fprintf(a.stdout, "%s\n\n%s", j.Command, indented(j.Script))
	}
	return nil
}

func indented(script string) string {
	var b strings.Builder
	for line := range strings.Lines(script) {
		b.WriteString("    " + line)
	}
	return b.String()
}

// hours keeps two digits that count.
func hours(h float64) string {
	if h > 0 && h < 0.01 {
		return fmt.Sprintf("%.1g", h)
	}
	return fmt.Sprintf("%.*f", max(0, 2-int(math.Log10(max(1, h)))), h)
}
