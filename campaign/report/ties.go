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
	can := make(map[coll.Point][]coll.Algorithm, len(c.Rows))
	var points []coll.Point
	work := 0.0
	for _, row := range c.Rows {
		for _, o := range row.Options {
			can[row.Point] = append(can[row.Point], o.Algorithm)
		}
		points = append(points, row.Point)
		work += float64(len(row.Options)) * float64(measurements*measurements)
	}
	if work > tieWork {
		return nil
	}
	doubts, err := c.Models.Doubts(points, func(p coll.Point) []coll.Algorithm { return can[p] })
	if err != nil {
		return err
	}
	ties := 0
	for i, d := range doubts {
		if !d.Tie {
			continue
		}
		switch f.Cells[i].Selected {
		case d.Choice.String():
			f.Cells[i].Tie = d.Rival.String()
		case d.Rival.String():
			f.Cells[i].Tie = d.Choice.String()
		default:
			continue
		}
		ties++
	}
	f.Ties = &ties
	return nil
}
