package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"golang.org/x/term"

	"tutti/campaign/assembly"
)

// tellDryRun prints the jobs of the first round, then their commands and scripts.
func (a *app) tellDryRun(d assembly.Forecast, output string) error {
	if output == "json" {
		return a.printJSON(d)
	}
	rows := make([]table.Row, len(d.Jobs))
	for i, j := range d.Jobs {
		rows[i] = table.Row{j.Name, j.Nodes, j.PPN, seconds(j.Limit), j.Starts, j.Candidates, hours(j.NodeHours)}
	}
	a.printTable(table.Row{"job", "nodes", "ppn", "limit", "starts", "candidates", "node-hours"}, rows)
	fmt.Fprintf(a.stdout, "first round: %d jobs, %s node-hours at most; whole campaign: %s node-hours at most\n",
		len(d.Jobs), hours(d.RoundNodeHours), hours(d.NodeHours))
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

// confirm asks before a campaign that may take more than its file allows unasked.
func (a *app) confirm(ctx context.Context, b *assembly.Campaign, yes bool) error {
	if yes || !b.Config.Runner.Live() {
		return nil
	}
	most, err := b.MostNodeHours(ctx)
	if err != nil || most <= b.Config.Runner.Confirm {
		return err
	}
	question := fmt.Sprintf("the campaign may take %s node-hours, more than runner.confirm, %s", hours(most), hours(b.Config.Runner.Confirm))
	if !term.IsTerminal(int(a.stdin.Fd())) {
		return withCode(codeUsage, fmt.Errorf("%s: agree with --yes, set stop.node_hours, or look with --dry-run", question))
	}
	fmt.Fprintf(a.stderr, "%s. Go on? [y/N] ", question)
	answer, err := bufio.NewReader(a.stdin).ReadString('\n')
	if err != nil && err != io.EOF {
		return err
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return withCode(codeCancelled, fmt.Errorf("not begun"))
	}
	return nil
}
