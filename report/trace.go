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

// traceLine contains the totals of all calls of one collective, or of all calls at one point.
type traceLine struct {
	collective, layout, bytes string // layout and bytes are of a point

	calls, seconds, shortest, longest float64
	covered, saved                    float64 // seconds of calls near a tuned point, and seconds that its selection saves
	selected                          string  // there
}

func (l *traceLine) add(c preprocess.Calls, g *Gains) {
	if l.calls == 0 || c.Shortest < l.shortest {
		l.shortest = c.Shortest
	}
	l.calls += c.Calls
	l.seconds += c.Seconds
	l.longest = max(l.longest, c.Longest)
	if selected, saving, ok := g.at(c.Point); ok {
		l.covered += c.Seconds
		l.saved += saving * c.Seconds
		l.selected = selected
	}
}

// traceTable is a table of collectives or of points, as text.
type traceTable struct {
	Title string
	Head  table.Row
	Rows  []traceRow
}

type traceRow struct {
	Cells table.Row
	Width template.CSS // of the bar that shows the share
}

// newTraceTable returns a table of lines, which it sorts by time in descending order. A share is the fraction of the
// time of all calls, or of their number if the trace has no times.
func newTraceTable(title string, head []string, lines []traceLine, all traceLine) traceTable {
	slices.SortStableFunc(lines, func(a, b traceLine) int {
		return cmp.Or(-cmp.Compare(a.seconds, b.seconds), -cmp.Compare(a.calls, b.calls))
	})
	t := traceTable{Title: title}
	for _, name := range head {
		t.Head = append(t.Head, name)
	}
	for _, l := range lines {
		row := traceRow{Width: template.CSS(fmt.Sprintf("width:%.1f%%", 100*l.share(all)))}
		text := l.texts(all)
		for _, name := range head {
			row.Cells = append(row.Cells, cmp.Or(text[name], absent))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (l traceLine) share(all traceLine) float64 {
	if all.seconds > 0 {
		return l.seconds / all.seconds
	}
	return l.calls / max(all.calls, 1)
}

// texts returns the cells of a line by column header. Cells whose values are unknown are missing.
func (l traceLine) texts(all traceLine) map[string]string {
	out := map[string]string{
		"collective": l.collective, "nodes x ppn": l.layout, "bytes": l.bytes,
		"calls": fmt.Sprintf("%.6g", l.calls), "share": FormatShare(l.share(all)), "with": l.selected,
	}
	if all.seconds > 0 && l.calls > 0 {
		out["time"], out["a call"] = FormatSeconds(l.seconds), FormatSeconds(l.seconds/l.calls)
	}
	if l.longest > 0 {
		out["shortest"], out["longest"] = FormatSeconds(l.shortest), FormatSeconds(l.longest)
	}
	if l.covered > 0 {
		out["saving"] = FormatShare(l.saved / l.seconds)
	}
	return out
}

// traceView is a trace as two tables: of collectives and of points.
type traceView struct {
	Name         string
	Style        template.CSS
	Total, Calls string
	Tables       []traceTable
	Remaining    int    // points that are not shown
	Gains        string // a sentence; empty without a campaign
}

// viewOf converts a trace into two tables. The table of points has the points with the longest times, at most
// `maxPoints`.
func viewOf(name string, calls []preprocess.Calls, g *Gains, maxPoints int) traceView {
	var all traceLine
	var collectives, points []traceLine
	for _, c := range calls {
		all.add(c, g)
		at := slices.IndexFunc(collectives, func(l traceLine) bool { return l.collective == string(c.Collective) })
		if at < 0 {
			at = len(collectives)
			collectives = append(collectives, traceLine{collective: string(c.Collective)})
		}
		collectives[at].add(c, g)
		p := traceLine{collective: string(c.Collective), layout: c.Layout().String()}
		if c.Collective.Sized() {
			p.bytes = coll.FormatBytes(c.MsgBytes)
		}
		p.add(c, g)
		points = append(points, p)
	}
	texts := all.texts(all)
	v := traceView{Name: name, Total: cmp.Or(texts["time"], absent), Calls: texts["calls"], Remaining: max(0, len(points)-maxPoints), Gains: g.sentence(all)}
	head := []string{"calls", "time", "share", "a call", "shortest", "longest", "saving", "with"}
	if g == nil {
		head = head[:6]
	}
	v.Tables = []traceTable{
		newTraceTable("By collective", append([]string{"collective"}, head[:min(7, len(head))]...), collectives, all),
		newTraceTable("By layout and size", append([]string{"collective", "nodes x ppn", "bytes"}, head...), points, all),
	}
	v.Tables[1].Rows = v.Tables[1].Rows[:len(points)-v.Remaining]
	return v
}

// TraceTables returns the time that an application spends in collectives, as two text tables. The first table
// has a row for each collective. The second table has the points with the longest times, at most maxPoints.
// If g is not nil, the tables also show predicted savings; this needs a trace with times.
func TraceTables(calls []preprocess.Calls, g *Gains, maxPoints int) string {
	v := viewOf("", calls, g, maxPoints)
	out := ""
	for _, t := range v.Tables {
		text := NewTable(t.Head, 2, 3, 4, 5, 6, 7, 8, 9, 10)
		for _, r := range t.Rows {
			text.AppendRow(r.Cells)
		}
		out += render(text)
	}
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

// maxPagePoints limits the rows in the HTML page's table of points, which keeps the page small. Points with
// less time are left out.
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

// ReadGains reads the results for one library from a campaign's report.json. `library` may be
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
	if library == "" {
		return nil, fmt.Errorf("%s: the campaign tuned %s: --library says which one", path, strings.Join(names, " and "))
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
// of the default's time that this algorithm saves. It returns false if no tuned point is near, or if g is nil.
func (g *Gains) at(p coll.Point) (selected string, saving float64, ok bool) {
	if g == nil {
		return "", 0, false
	}
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

// sentence describes how much time the selection is predicted to save in all calls. It also says that the
// saving is smaller where ranks wait for each other, because the times in a trace include waiting.
func (g *Gains) sentence(all traceLine) string {
	if g == nil {
		return ""
	}
	return fmt.Sprintf("Campaign %s predicts that its files save %s of the time in collectives, %s of %s. The saving is smaller where ranks wait for each other. Calls with %s of the time are near tuned points.",
		g.Name, FormatShare(all.saved/all.seconds), FormatSeconds(all.saved), FormatSeconds(all.seconds), FormatShare(all.covered/all.seconds))
}
