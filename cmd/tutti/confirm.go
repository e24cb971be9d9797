package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"

	"tutti/campaign/assembly"
)

// confirm tells what cannot be measured, and asks before a campaign that is expected to
// take more than its file allows unasked.
func (a *app) confirm(ctx context.Context, b *assembly.Campaign, yes bool) error {
	if !b.Config.Runner.Live() {
		return nil
	}
	h, err := b.Hours(ctx)
	if err != nil {
		return err
	}
	for _, l := range h.LeftOut {
		fmt.Fprintln(a.stderr, "warning:", l)
	}
	if yes {
		return nil
	}
	price := fmt.Sprintf("the campaign will take about %s node-hours, %s at most", hours(h.Expected), hours(h.Most))
	return a.agree(price, h.Expected, b.Config.Runner.Confirm, "agree with --yes, set stop.node_hours, or look with --dry-run")
}

// agree asks whether to go on for a price when that is expected to be more node-hours than
// runner.confirm allows unasked. Where nobody can answer the error says what to do instead.
func (a *app) agree(price string, expected, unasked float64, instead string) error {
	if expected <= unasked {
		return nil
	}
	question := fmt.Sprintf("%s, more than runner.confirm, %s", price, hours(unasked))
	if !term.IsTerminal(int(a.stdin.Fd())) {
		return withCode(codeUsage, fmt.Errorf("%s: %s", question, instead))
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
