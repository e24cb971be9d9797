package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"gonum.org/v1/gonum/stat"

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
			a.printLine(text)
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
	out    io.Writer
	now    func() time.Time
	began  time.Time // of the current block
	points float64   // of the current block; 0 before the first one
	// Of the blocks that ended: points and seconds.
	sizes, seconds []float64
}

// laterShare is the expected share of points that are measured in a block after the fewest ones: one in seven needs more
// than Rules.MinBlocks blocks at 2 % noise (verify's TestPower).
const laterShare = 0.15

// observe prints a line at the start of a block of measurements, with the expected time of the rest of its test.
func (p *verifyProgress) observe(e verify.Event) {
	test := "first test"
	if e.Stage == verify.Confirmation {
		test = "second test"
	}
	text := fmt.Sprintf("%s: pass %d, %s, block %d of at most %d: %s", e.Library, e.Pass, test, e.Block, e.MaxBlocks, plural(e.Points, "point"))
	now := p.now()
	if p.points > 0 && e.Block > 1 { // the end of a test's last block is not known
		p.sizes, p.seconds = append(p.sizes, p.points), append(p.seconds, now.Sub(p.began).Seconds())
	}
	if len(p.sizes) > 0 {
		text += fmt.Sprintf(", about %s left", report.FormatSeconds(math.Ceil(p.left(e))))
	}
	p.began, p.points = now, float64(e.Points)
	fmt.Fprintln(p.out, fit(p.out, text))
}

// left returns the expected seconds of the rest of a test, from the start of a block. After the fewest blocks, and after
// twice as many, the points that are clear leave the test (verify.Rules).
func (p *verifyProgress) left(e verify.Event) float64 {
	points, blocks := float64(e.Points), float64(e.MaxBlocks-e.Block+1)
	switch {
	case e.Stage == verify.Confirmation:
		return blocks * p.block(points)
	case e.Block <= e.MinBlocks:
		certain := float64(e.MinBlocks - e.Block + 1)
		anyLater := 1 - math.Pow(1-laterShare, points)
		return certain*p.block(points) + anyLater*math.Min(float64(e.MinBlocks), blocks-certain)*p.block(math.Max(1, laterShare*points))
	case e.Block <= 2*e.MinBlocks:
		blocks = math.Min(blocks, float64(2*e.MinBlocks-e.Block+1))
	}
	return blocks * p.block(points)
}

// launchPoints is the number of points that take as long to measure as a block's launches take to start. It is used until
// blocks with different numbers of points show how long the launches take.
const launchPoints = 6

// block returns the expected seconds of a block: a part for its launches and a part for each point.
func (p *verifyProgress) block(points float64) float64 {
	took, size := stat.Mean(p.seconds, nil), stat.Mean(p.sizes, nil)
	if slices.Min(p.sizes) == slices.Max(p.sizes) {
		return took / (launchPoints + size) * (launchPoints + points)
	}
	launches, each := stat.LinearRegression(p.sizes, p.seconds, nil, false)
	switch {
	case launches < 0:
		return took / size * points
	case each < 0:
		return took
	}
	return launches + each*points
}
