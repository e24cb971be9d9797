package report

import (
	"tutti/campaign"
	"tutti/coll"
	"tutti/surrogate/learner"
)

// tieWork is the most that ties are looked for with: points times algorithms times the
// square of the measurements, some ten seconds.
const tieWork = 2e10

// addTies tells of the cells where what is selected is as fast as another algorithm,
// as far as measurements tell; c has the cells' rows, in their order. Forests do not know.
func addTies(f *ProblemFacts, c campaign.Conclusion, measurements int) error {
	if f.Model != string(learner.GaussianProcess) && f.Model != string(learner.Stack) {
		return nil
	}
	work := 0.0
	for _, row := range c.Rows {
		work += float64(len(row.Options)) * float64(measurements*measurements)
	}
	if work > tieWork {
		return nil
	}
	doubts, err := c.Doubts()
	if err != nil {
		return err
	}
	cells := make(map[coll.Point]*Cell, len(c.Rows))
	for i, row := range c.Rows {
		cells[row.Point] = &f.Cells[i]
	}
	ties := 0
	for _, d := range doubts {
		if !d.Tie {
			continue
		}
		cell := cells[d.Point]
		switch cell.Selected {
		case d.Choice.String():
			cell.Tie = d.Rival.String()
		case d.Rival.String():
			cell.Tie = d.Choice.String()
		default:
			continue
		}
		ties++
	}
	f.Ties = &ties
	return nil
}
