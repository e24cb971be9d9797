package report

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"tutti/coll"
	"tutti/internal/infile"
	"tutti/preprocess"
)

// traceLine is a line of a table: the calls of one collective or at one point.
type traceLine struct {
	Collective               coll.Collective
	Layout, Bytes            string // of a point
	Calls                    string
	Seconds, Mean            string
	Shortest, Longest, Share string
	Width                    template.CSS // of the bar that shows the share
	Gain                     gain

	calls, seconds, shortest, longest float64
}

// traceView is a trace as the lines of tables, sorted by time in descending order.
type traceView struct {
	Name        string
	Style       template.CSS
	Total       string
	Calls       string
	Collectives []traceLine
	Points      []traceLine
	Remaining   int    // points that are not shown
	Gains       string // a sentence; empty without a campaign
}

func (l *traceLine) add(c preprocess.Calls, g *Gains) {
	l.Gain.add(g, c)
	if l.calls == 0 || c.Shortest < l.shortest {
		l.shortest = c.Shortest
	}
	l.calls += c.Calls
	l.seconds += c.Seconds
	l.longest = max(l.longest, c.Longest)
}

// finish formats the numbers of a line. The share is the fraction of the time, or of the calls if the trace
// has no times.
func (l *traceLine) finish(calls, seconds float64) {
	share := 0.0
	switch {
	case seconds > 0:
		share = l.seconds / seconds
	case calls > 0:
		share = l.calls / calls
	}
	l.Gain.finish(l.seconds)
	l.Calls = fmt.Sprintf("%.6g", l.calls)
	l.Share, l.Width = FormatShare(share), template.CSS(fmt.Sprintf("width:%.1f%%", 100*share))
	if seconds <= 0 || l.calls <= 0 {
		l.Seconds, l.Mean = absent, absent
	} else {
		l.Seconds, l.Mean = formatSeconds(l.seconds), formatSeconds(l.seconds/l.calls)
	}
	l.Shortest, l.Longest = absent, absent
	if l.longest > 0 {
		l.Shortest, l.Longest = formatSeconds(l.shortest), formatSeconds(l.longest)
	}
}

// cells returns the cells that follow the names of a row.
func (l traceLine) cells() []any {
	return []any{l.Calls, l.Seconds, l.Share, l.Mean, l.Shortest, l.Longest, l.Gain.Saving, l.Gain.Selected}
}

func byTime(a, b traceLine) int {
	return cmp.Or(-cmp.Compare(a.seconds, b.seconds), -cmp.Compare(a.calls, b.calls))
}

// viewOf converts a trace into tables. The table of points has those with the longest times, at most
// maxPoints.
func viewOf(name string, calls []preprocess.Calls, g *Gains, maxPoints int) traceView {
	v := traceView{Name: name}
	all := traceLine{}
	for _, c := range calls {
		all.add(c, g)
		at := slices.IndexFunc(v.Collectives, func(l traceLine) bool { return l.Collective == c.Collective })
		if at < 0 {
			at = len(v.Collectives)
			v.Collectives = append(v.Collectives, traceLine{Collective: c.Collective})
		}
		v.Collectives[at].add(c, g)
		p := traceLine{Collective: c.Collective, Layout: c.Layout().String(), Bytes: coll.FormatBytes(c.MsgBytes)}
		if !c.Collective.Sized() {
			p.Bytes = absent
		}
		p.add(c, g)
		v.Points = append(v.Points, p)
	}
	slices.SortStableFunc(v.Collectives, byTime)
	slices.SortStableFunc(v.Points, byTime)
	v.Remaining = max(0, len(v.Points)-maxPoints)
	v.Points = v.Points[:len(v.Points)-v.Remaining]
	for _, lines := range [][]traceLine{v.Collectives, v.Points} {
		for i := range lines {
			lines[i].finish(all.calls, all.seconds)
		}
	}
	all.finish(all.calls, all.seconds)
	v.Total, v.Calls = all.Seconds, all.Calls
	v.Gains = all.Gain.sentence(g, all.seconds)
	return v
}

// TraceTables returns the time that an application spends in collectives, as two text tables. The first table
// has a row for each collective. The second table has the points with the longest times, at most maxPoints.
// If g is not nil, the tables also show predicted savings; this needs a trace with times.
func TraceTables(calls []preprocess.Calls, g *Gains, maxPoints int) string {
	v := viewOf("", calls, g, maxPoints)
	heads := [2]table.Row{{"collective"}, {"collective", "nodes x ppn", "bytes"}}
	for i := range heads {
		heads[i] = append(heads[i], "calls", "time", "share", "a call", "shortest", "longest")
		if g != nil {
			heads[i] = append(heads[i], "saving")
		}
	}
	if g != nil {
		heads[1] = append(heads[1], "with")
	}
	t := NewTable(heads[0], 2, 3, 4, 5, 6, 7, 8)
	for _, l := range v.Collectives {
		t.AppendRow(append(table.Row{l.Collective}, l.cells()...)[:len(heads[0])])
	}
	out := render(t)
	t = NewTable(heads[1], 3, 4, 5, 6, 7, 8, 9, 10)
	for _, l := range v.Points {
		t.AppendRow(append(table.Row{l.Collective, l.Layout, l.Bytes}, l.cells()...)[:len(heads[1])])
	}
	out += render(t)
	if v.Remaining > 0 {
		out += fmt.Sprintf("and %d more points\n", v.Remaining)
	}
	if v.Gains != "" {
		out += v.Gains + "\n"
	}
	return out
}

var (
	//go:embed trace.html
	traceText     string
	traceTemplate = template.Must(template.New("trace").Parse(traceText))
)

// maxPagePoints is the largest number of points that a page shows.
const maxPagePoints = 1000

// WriteTraceHTML writes the tables of TraceTables as one HTML page that needs no other files.
func WriteTraceHTML(w io.Writer, name string, calls []preprocess.Calls, g *Gains) error {
	v := viewOf(name, calls, g, maxPagePoints)
	v.Style = template.CSS(asset("draw.css") + asset("report.css"))
	if err := traceTemplate.Execute(w, v); err != nil {
		return fmt.Errorf("trace as HTML: %w", err)
	}
	return nil
}

// Gains predicts how much time the selection of a campaign saves in the calls of an application.
type Gains struct {
	Name         string // of the campaign
	byCollective map[coll.Collective]tunedCells
}

// tunedCells contains the points of a problem at which the time of the default is known.
type tunedCells struct {
	rows  [][]float64 // of preprocess.Rows
	cells []Cell
}

// ReadGains reads the results for one library from a campaign's report.json. The parameter library may be
// empty if the campaign has only one library.
func ReadGains(path, library string) (*Gains, error) {
	text, err := infile.Read(path, infile.NoLimit)
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
	g := &Gains{Name: f.Campaign, byCollective: map[coll.Collective]tunedCells{}}
	for _, p := range f.Problems {
		if p.Library == library {
			g.byCollective[coll.Collective(p.Collective)] = tunedCellsOf(p)
		}
	}
	return g, nil
}

func tunedCellsOf(p ProblemFacts) tunedCells {
	var t tunedCells
	var points []coll.Point
	for _, c := range p.Cells {
		if c.Slowdown != nil && c.DefaultSlowdown != nil && *c.Slowdown > 0 && *c.DefaultSlowdown > 0 {
			t.cells = append(t.cells, c)
			points = append(points, coll.Point{Collective: coll.Collective(p.Collective), Nodes: c.Nodes, PPN: c.PPN, MsgBytes: c.MsgBytes})
		}
	}
	t.rows = preprocess.Rows(points)
	return t
}

// at returns the algorithm that is selected at the tuned point nearest to p. It also returns the proportion
// of the default's time that this algorithm saves. It returns false if no tuned point is near.
func (g *Gains) at(p coll.Point) (selected string, saving float64, ok bool) {
	t := g.byCollective[p.Collective]
	if len(t.cells) == 0 {
		return "", 0, false
	}
	k, distance := preprocess.Nearest(t.rows, p)
	if distance >= preprocess.Far {
		return "", 0, false
	}
	c := t.cells[k]
	return c.Algorithm, 1 - *c.Slowdown / *c.DefaultSlowdown, true
}

// gain is the predicted saving of time for the calls in one line of a table.
type gain struct {
	covered float64 // seconds of calls near a tuned point
	saved   float64 // seconds

	Selected, Saving string // as text; Saving is the share of the line's time
}

func (n *gain) add(g *Gains, c preprocess.Calls) {
	if g == nil {
		return
	}
	if selected, saving, ok := g.at(c.Point); ok {
		n.covered += c.Seconds
		n.saved += saving * c.Seconds
		n.Selected = selected
	}
}

func (n *gain) finish(seconds float64) {
	n.Saving = absent
	if n.covered > 0 {
		n.Saving = FormatShare(n.saved / seconds)
	}
	if n.Selected == "" {
		n.Selected = absent
	}
}

// sentence describes the predicted saving of all calls. The times in a trace include the time in which
// ranks wait for others. No algorithm saves this time.
func (n gain) sentence(g *Gains, seconds float64) string {
	if g == nil {
		return ""
	}
	return fmt.Sprintf("Campaign %s predicts that its files save %s of the time in collectives, %s of %s. The saving is smaller where ranks wait for each other. Calls with %s of the time are near tuned points.",
		g.Name, FormatShare(n.saved/seconds), formatSeconds(n.saved), formatSeconds(seconds), FormatShare(n.covered/seconds))
}
