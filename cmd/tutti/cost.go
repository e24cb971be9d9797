package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"golang.org/x/term"

	"tutti/campaign/assembly"
	"tutti/report"
)

// confirmCampaign prints which parts of a campaign cannot be measured. If the expected cost
// exceeds runner.confirm, it asks for confirmation.
func confirmCampaign(ctx context.Context, a *app, b *assembly.Campaign, yes bool) error {
	if !b.Config.Runner.Live() {
		return nil
	}
	f, err := b.Forecast(ctx)
	if err != nil {
		return err
	}
	printWarnings(a.stderr, f.LeftOut)
	if yes {
		return nil
	}
	cost := fmt.Sprintf("the campaign will take about %s node-hours, at most %s", report.FormatNodeHours(f.Expected), report.FormatNodeHours(f.NodeHours))
	return confirmCost(a, cost, f.Expected, b.Config.Runner.Confirm, "agree with --yes, set stop.node_hours, or look with --dry-run")
}

// confirmCost asks for confirmation if the expected node-hours exceed the limit. The text `cost` is part of the
// question. If standard input is not a terminal, it returns an error. The error includes the text `instead`,
// which says what the user can do.
func confirmCost(a *app, cost string, expected, limit float64, instead string) error {
	if expected <= limit {
		return nil
	}
	question := fmt.Sprintf("%s, more than runner.confirm, %s", cost, report.FormatNodeHours(limit))
	if !term.IsTerminal(int(a.stdin.Fd())) {
		return withCode(codeUsage, fmt.Errorf("%s: %s", question, instead))
	}
	fmt.Fprintf(a.stderr, "%s. Start? [y/N] ", question)
	answer, err := bufio.NewReader(a.stdin).ReadString('\n')
	if err != nil && err != io.EOF {
		return err
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return withCode(codeCancelled, errors.New("not started"))
	}
	return nil
}

// printForecast prints the jobs of the first round and their cost. It also prints what cannot be measured, with
// reasons. If `scripts` is true, it also prints the commands and scripts of the jobs. `collectiveShare`
// is the fraction of their time that applications spend in collectives.
func printForecast(a *app, f assembly.Forecast, collectiveShare float64, scripts bool) {
	rows := make([]table.Row, len(f.Jobs))
	for i, j := range f.Jobs {
		rows[i] = table.Row{j.Problem, fmt.Sprintf("%dx%d", j.Nodes, j.PPN), report.FormatSeconds(j.Limit), j.Launches, j.Candidates, report.FormatNodeHours(j.Expected), report.FormatNodeHours(j.NodeHours)}
	}
	for _, l := range f.LeftOut {
		if l.Whole() {
			rows = append(rows, table.Row{l.Problem, "none", "", 0, 0, "0", "0"})
		}
	}
	a.printTable(table.Row{"problem", "layout", "limit", "launches", "candidates", "node-hours", "at most"}, rows)
	a.printFit("first round: %s, at most %s node-hours; whole campaign: about %s node-hours, at most %s",
		plural(len(f.Jobs), "job"), report.FormatNodeHours(f.RoundNodeHours), report.FormatNodeHours(f.Expected), report.FormatNodeHours(f.NodeHours))
	for _, saved := range []float64{0.10, 0.01} {
		ofApplications := collectiveShare * saved
		if ofApplications > 0 {
			a.printFit("break-even if the campaign saves %.0f %% of collective time: after %s node-hours of applications with %s in collectives (%s saved an hour)",
				100*saved, report.FormatNodeHours(f.Expected/ofApplications), report.FormatShare(collectiveShare), report.FormatSeconds(3600*ofApplications))
		}
	}
	printWarnings(a.stdout, f.LeftOut)
	if !scripts {
		return
	}
	for _, j := range f.Jobs {
		fmt.Fprintf(a.stdout, "\n# %s: %s\n", j.Name, strings.Join(j.Carries, ", "))
		fmt.Fprintf(a.stdout, "%s\n\n", j.Command)
		for _, text := range j.Settings {
			fmt.Fprintf(a.stdout, "# %s\n", text)
		}
		for line := range strings.Lines(j.Script) {
			fmt.Fprint(a.stdout, "    ", line)
		}
	}
}
