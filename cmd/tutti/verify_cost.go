package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"tutti/campaign/assembly"
	"tutti/campaign/verification"
	"tutti/internal/config"
	"tutti/report"
	"tutti/verify"
)

// This file says what a verification will cost, and how long it still takes.

// estimateCosts returns the expected cost of verifying each library that can be measured. It returns an error
// if a budget is too small to prove anything.
func estimateCosts(p *verification.Verifier, chosen []config.Library, wall time.Duration) ([]verification.Estimate, error) {
	var out []verification.Estimate
	for _, lib := range chosen {
		e, err := p.Estimate(lib)
		if errors.Is(err, verification.ErrRecordedOnly) {
			continue // verifyLibrary reports it
		}
		if err != nil {
			return nil, err
		}
		budget, flag := e.Budget, "--machine-time"
		if wall > 0 && wall.Seconds() < budget {
			budget, flag = wall.Seconds(), "--wall-time"
		}
		if budget < e.Least {
			return nil, withCode(codeUsage, fmt.Errorf("%s: %s of %s for this library can show nothing: the fewest blocks at one point take about %s; give more",
				e.Library, flag, config.ShortDuration(time.Duration(budget*float64(time.Second)).Round(time.Second)), config.ShortDuration(time.Duration(math.Ceil(e.Least))*time.Second))) // rounded up: the value shown is enough
		}
		out = append(out, e)
	}
	return out, nil
}

func printEstimates(a *app, estimates []verification.Estimate) {
	rows := make([]table.Row, len(estimates))
	for i, e := range estimates {
		rows[i] = table.Row{e.Library, e.Points, report.FormatSeconds(e.Seconds), report.FormatSeconds(e.Budget), report.FormatNodeHours(e.NodeSeconds / 3600)}
		if e.Seconds == 0 && e.Points > 0 {
			rows[i] = table.Row{e.Library, e.Points, "unknown", report.FormatSeconds(e.Budget), "unknown"}
		}
	}
	a.printTable(table.Row{"library", "points", "machine time", "at most", "node-hours"}, rows)
	for _, e := range estimates {
		if e.Shows != "" {
			a.printWrapped(fmt.Sprintf("%s: %s", e.Library, e.Shows))
		}
	}
}

// confirmVerify prints the expected costs. It asks for confirmation if they exceed runner.confirm.
func confirmVerify(a *app, c *assembly.Campaign, estimates []verification.Estimate, yes bool) error {
	nodeHours := 0.0
	for _, e := range estimates {
		if e.Points > 0 {
			about := ""
			if 0 < e.Seconds && e.Seconds < e.Budget {
				about = fmt.Sprintf("about %s of machine time, ", report.FormatSeconds(e.Seconds))
			}
			a.printLine(fmt.Sprintf("%s: %s; %s, %sat most %s", e.Library, e.Shows, plural(e.Points, "point"), about, report.FormatSeconds(e.Budget)))
		}
		nodeHours += e.NodeSeconds / 3600
	}
	if yes || !c.Config.Runner.Live() {
		return nil
	}
	price := fmt.Sprintf("the verification will take about %s node-hours", report.FormatNodeHours(nodeHours))
	return confirmCost(a, price, nodeHours, c.Config.Runner.Confirm, "agree with --yes, set --machine-time, or look with --dry-run")
}

type verifyProgress struct {
	out   io.Writer
	now   func() time.Time
	began time.Time // of the current block
	cost  float64   // expected cost of the current block; 0 before the first one

	// Of the blocks that ended.
	costs float64
	took  time.Duration
}

// observe prints a line at the start of a block of measurements, with the expected time of the rest of its pass: its
// expected cost, at the rate of the blocks that ended.
func (p *verifyProgress) observe(e verify.Event) {
	test := "first test"
	if e.Stage == verify.Confirmation {
		test = "second test"
	}
	text := fmt.Sprintf("%s: pass %d, %s, block %d of at most %d: %s", e.Library, e.Pass, test, e.Block, e.MaxBlocks, plural(e.Points, "point"))
	now := p.now()
	if p.cost > 0 && e.Block > 1 { // the end of a test's last block is not known
		p.costs, p.took = p.costs+p.cost, p.took+now.Sub(p.began)
	}
	if p.costs > 0 {
		text += fmt.Sprintf(", about %s left in this pass", report.FormatSeconds(math.Ceil(p.took.Seconds()/p.costs*e.Ahead)))
	}
	p.began, p.cost = now, e.Cost
	fmt.Fprintln(p.out, fit(p.out, text))
}
