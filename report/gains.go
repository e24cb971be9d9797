package report

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/preprocess"
)

// Gains are what a campaign's files are expected to make of calls.
type Gains struct {
	Name string // of the campaign
	of   map[coll.Collective]tunedCells
}

// tunedCells are the points of a problem at which the default is known.
type tunedCells struct {
	rows  [][]float64 // of preprocess.Rows
	cells []Cell
}

// ReadGains reads a campaign's report.json as far as it is about one library: the only one
// of the campaign where library is empty.
func ReadGains(path, library string) (*Gains, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var f Facts
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var names []string
	for _, p := range f.Problems {
		if !slices.Contains(names, p.Library) {
			names = append(names, p.Library)
		}
	}
	if library == "" && len(names) == 1 {
		library = names[0]
	}
	if !slices.Contains(names, library) {
		return nil, fmt.Errorf("%s: library %q: want one of %s", path, library, strings.Join(names, ", "))
	}
	g := &Gains{Name: f.Campaign, of: map[coll.Collective]tunedCells{}}
	for _, p := range f.Problems {
		if p.Library == library {
			g.of[coll.Collective(p.Collective)] = cellsOf(p)
		}
	}
	return g, nil
}

func cellsOf(p ProblemFacts) tunedCells {
	var t tunedCells
	var points []coll.Point
	for _, c := range p.Cells {
		if c.TunedSlowdown != nil && c.DefaultSlowdown != nil && *c.TunedSlowdown > 0 && *c.DefaultSlowdown > 0 {
			t.cells = append(t.cells, c)
			points = append(points, coll.Point{Collective: coll.Collective(p.Collective), Nodes: c.Nodes, PPN: c.PPN, MsgBytes: c.MsgBytes})
		}
	}
	t.rows = preprocess.Rows(points)
	return t
}

// at returns what is selected at the tuned point nearest to a call, and the part of the
// default's time that it spares; false where the campaign knows nothing near.
func (g *Gains) at(p coll.Point) (selected string, spares float64, ok bool) {
	t := g.of[p.Collective]
	if len(t.cells) == 0 {
		return "", 0, false
	}
	k, distance := preprocess.Nearest(t.rows, p)
	if distance >= preprocess.Far {
		return "", 0, false
	}
	c := t.cells[k]
	return c.Selected, 1 - *c.TunedSlowdown / *c.DefaultSlowdown, true
}

// gain is what a line of a trace gains.
type gain struct {
	known  float64 // seconds of calls of which the campaign knows something
	spared float64 // of them

	Selected, Spares string // in words; the latter as a share of the line's time
}

func (n *gain) add(g *Gains, c preprocess.Calls) {
	if g == nil {
		return
	}
	if selected, spares, ok := g.at(c.Point); ok {
		n.known += c.Seconds
		n.spared += spares * c.Seconds
		n.Selected = selected
	}
}

func (n *gain) finish(seconds float64) {
	n.Spares = absent
	if n.known > 0 {
		n.Spares = formatShare(n.spared / seconds)
	}
	if n.Selected == "" {
		n.Selected = absent
	}
}

// sentence says what all calls gain. What ranks wait for each other is not spared, and
// traces have it in their times.
func (n gain) sentence(g *Gains, seconds float64) string {
	if g == nil {
		return ""
	}
	return fmt.Sprintf("By the predictions of campaign %s its files spare %s of the time in collectives, %s of %s, and less where ranks wait for each other. It was tuned near calls with %s of the time.",
		g.Name, formatShare(n.spared/seconds), formatSeconds(n.spared), formatSeconds(seconds), formatShare(n.known/seconds))
}
