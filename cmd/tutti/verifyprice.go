package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"tutti/campaign/assembly"
	"tutti/campaign/proof"
	"tutti/internal/config"
	"tutti/verify"
)

// prices returns what the verifications of libraries take that can be measured.
func prices(p *proof.Proof, chosen []config.Library) ([]proof.Estimate, error) {
	var out []proof.Estimate
	for _, lib := range chosen {
		e, err := p.Estimate(lib)
		if errors.Is(err, proof.ErrRecordedOnly) {
			continue // told where it is passed over
		}
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// tellPrices prints what verify --dry-run finds.
func (a *app) tellPrices(prices []proof.Estimate, output string) error {
	if output == "json" {
		return a.printJSON(prices)
	}
	rows := make([]table.Row, len(prices))
	for i, e := range prices {
		rows[i] = table.Row{e.Library, e.Points, fmt.Sprintf("%.0f", e.Blocks), seconds(e.Seconds), seconds(e.Budget), hours(e.NodeSeconds / 3600)}
	}
	a.printTable(table.Row{"library", "points", "blocks", "machine time", "at most", "node-hours"}, rows)
	return nil
}

// confirmVerify tells what verifications take, and asks before those that are expected to
// take more than the campaign's file allows unasked.
func (a *app) confirmVerify(c *assembly.Campaign, prices []proof.Estimate, yes bool) error {
	nodeHours := 0.0
	for _, e := range prices {
		if e.Points > 0 {
			fmt.Fprintf(a.stderr, "%s: %d points, about %s of machine time, %s at most\n", e.Library, e.Points, seconds(e.Seconds), seconds(e.Budget))
		}
		nodeHours += e.NodeSeconds / 3600
	}
	if yes {
		return nil
	}
	price := fmt.Sprintf("the verification will take about %s node-hours", hours(nodeHours))
	return a.agree(price, nodeHours, c.Config.Runner.Confirm, "agree with --yes, set --machine-time, or look with --dry-run")
}

// verifyProgress shows how verifications get on.
type verifyProgress struct {
	out    io.Writer
	now    func() time.Time
	began  time.Time
	spots  int // measured in this run by the end of the last block
	latest int // in the block that runs
}

func newVerifyProgress(out io.Writer) *verifyProgress {
	return &verifyProgress{out: out, now: time.Now, began: time.Now()}
}

// observe tells of a block that begins and how long its look may still take: as many
// points in each block that is left, at the pace so far.
func (p *verifyProgress) observe(e verify.Event) {
	look := "first look"
	if e.Look == verify.SecondLook {
		look = "second look"
	}
	text := fmt.Sprintf("%s: pass %d, %s, block %d of %d at most: %d points", e.Library, e.Pass, look, e.Block, e.Most, e.Spots)
	p.spots += p.latest
	p.latest = e.Spots
	if took := p.now().Sub(p.began); p.spots > 0 {
		left := took.Seconds() / float64(p.spots) * float64(e.Spots*(e.Most-e.Block+1))
		text += fmt.Sprintf(", %s so far, this look up to %s more", seconds(took.Seconds()), seconds(left))
	}
	fmt.Fprintln(p.out, text)
}
