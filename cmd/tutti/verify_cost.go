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
			if e.Seconds < e.Budget {
				about = fmt.Sprintf("about %s of machine time, ", report.FormatSeconds(e.Seconds))
			}
			text := fmt.Sprintf("%s: %s; %s, %sat most %s", e.Library, e.Shows, plural(e.Points, "point"), about, report.FormatSeconds(e.Budget))
			fmt.Fprintln(a.stderr, fit(a.stderr, text))
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
	out      io.Writer
	now      func() time.Time
	began    time.Time // of the first block
	measured int       // points measured in this run up to the end of the last block
	current  int       // points of the current block
}

// laterShare is the expected share of points that are measured in a block after the fewest ones: one in seven needs more
// than Rules.MinBlocks blocks at 2 % noise (verify's TestPower).
const laterShare = 0.15

// observe prints a line at the start of a block of measurements, with the expected time of the rest of its test. The
// estimate assumes that a measurement takes as long as those so far.
func (p *verifyProgress) observe(e verify.Event) {
	test := "first test"
	if e.Stage == verify.Confirmation {
		test = "second test"
	}
	text := fmt.Sprintf("%s: pass %d, %s, block %d of at most %d: %s", e.Library, e.Pass, test, e.Block, e.MaxBlocks, plural(e.Points, "point"))
	p.measured += p.current
	p.current = e.Points
	if p.began.IsZero() {
		p.began = p.now()
	}
	if took := p.now().Sub(p.began); p.measured > 0 {
		left := took.Seconds() / float64(p.measured) * expectedMeasurements(e)
		text += fmt.Sprintf(", about %s left", report.FormatSeconds(math.Ceil(left)))
	}
	fmt.Fprintln(p.out, fit(p.out, text))
}

// expectedMeasurements returns how many points the test is expected to measure in this block and all later ones.
func expectedMeasurements(e verify.Event) float64 {
	blocks := float64(e.MaxBlocks - e.Block + 1)
	switch {
	case e.Stage == verify.Confirmation:
		return float64(e.Points) * blocks
	case e.Block <= e.MinBlocks:
		certain := float64(e.MinBlocks - e.Block + 1)
		return float64(e.Points) * (certain + laterShare*math.Min(float64(e.MinBlocks), blocks-certain))
	}
	return float64(e.Points) * math.Min(blocks, float64(e.MinBlocks))
}
