package report

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"tutti/coll"
	"tutti/internal/infile"
	"tutti/preprocess"
)

// traceLine contains the totals of all calls of one collective, or of all calls at one point.
type traceLine struct {
	collective, point string

	calls, shortest, longest float64
	callSeconds              float64 // sum over the calls of the mean time of their ranks
	seconds                  float64 // of a rank of the application, on average, as the next two
	covered, saved           float64 // of calls near a tuned point, and what its selection saves
	selected                 string  // there
}

// add adds the calls to the totals. The parameter `ranks` is the number of ranks of the application.
func (l *traceLine) add(c preprocess.Calls, ranks float64, g *Gains) {
	if l.calls == 0 || c.Shortest < l.shortest {
		l.shortest = c.Shortest
	}
	seconds := c.Seconds * (float64(c.Ranks()) / ranks)
	l.calls += c.Calls
	l.callSeconds += c.Seconds
	l.seconds += seconds
	l.longest = max(l.longest, c.Longest)
	if selected, saving, ok := g.at(c.Point); ok {
		l.covered += seconds
		l.saved += saving * seconds
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
		"call": l.collective, "point": l.point,
		"calls": fmt.Sprintf("%.6g", l.calls), "share": FormatShare(l.share(all)), "with": l.selected,
	}
	if all.seconds > 0 && l.calls > 0 {
		out["time"], out["a call"] = FormatSeconds(l.seconds), FormatSeconds(l.callSeconds/l.calls)
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
	Share        string // of the run time; empty when unknown
	Tables       []traceTable
	Remaining    int      // points that are not shown
	Sentences    []string // on the share of collectives, and on the gain of a campaign
}

// viewOf converts a trace into two tables. The table of points has the points with the longest times, at most
// `maxPoints`.
func viewOf(name string, trace preprocess.Trace, g *Gains, maxPoints int) traceView {
	var all traceLine
	var collectives, points []traceLine
	ranks := trace.KnownRanks()
	for _, c := range trace.Calls {
		all.add(c, ranks, g)
		at := slices.IndexFunc(collectives, func(l traceLine) bool { return l.collective == string(c.Collective) })
		if at < 0 {
			at = len(collectives)
			collectives = append(collectives, traceLine{collective: string(c.Collective)})
		}
		collectives[at].add(c, ranks, g)
		p := traceLine{collective: string(c.Collective), point: c.Where()}
		p.add(c, ranks, g)
		points = append(points, p)
	}
	texts := all.texts(all)
	v := traceView{Name: name, Total: cmp.Or(texts["time"], absent), Calls: texts["calls"], Remaining: max(0, len(points)-maxPoints)}
	if trace.Run > 0 {
		v.Share = FormatShare(trace.CollectiveShare())
		v.Sentences = append(v.Sentences, fmt.Sprintf("A rank spends %s of %s in blocking collectives, %s of the run.", FormatSeconds(trace.Collectives), FormatSeconds(trace.Run), v.Share))
	}
	if g != nil {
		v.Sentences = append(v.Sentences, g.Of(trace).sentences(all)...)
	}
	head := []string{"calls", "time", "share", "a call", "shortest", "longest", "saving", "with"}
	if g == nil {
		head = head[:6]
	}
	v.Tables = []traceTable{
		newTraceTable("By collective", append([]string{"call"}, head[:min(7, len(head))]...), collectives, all),
		newTraceTable("By layout and size", append([]string{"call", "point"}, head...), points, all),
	}
	v.Tables[1].Rows = v.Tables[1].Rows[:len(points)-v.Remaining]
	return v
}

// TraceText returns the time that an application spends in collectives, as two text tables and sentences of at most
// `width` columns. The first table has a row for each collective. The second table has the points with the longest
// times, at most maxPoints. If g is not nil, the tables also show savings; this needs a trace with times.
func TraceText(trace preprocess.Trace, g *Gains, maxPoints, width int) string {
	v := viewOf("", trace, g, maxPoints)
	var b strings.Builder
	for _, t := range v.Tables {
		b.WriteString(t.narrow(g != nil))
	}
	if v.Remaining > 0 {
		fmt.Fprintf(&b, "and %d more points\n", v.Remaining)
	}
	for _, s := range v.Sentences {
		b.WriteString(Wrap(s, width))
	}
	return b.String()
}

// narrow returns the table as text without the columns that would make it wider than 80 columns. The page has them.
func (t traceTable) narrow(gains bool) string {
	left := []string{"shortest"}
	points := slices.Contains(t.Head, any("point"))
	switch {
	case points && gains:
		left = append(left, "calls", "time", "a call", "longest")
	case points || gains:
		left = append(left, "longest")
	}
	var head table.Row
	var numbers, kept []int
	for i, name := range t.Head {
		if slices.Contains(left, name.(string)) {
			continue
		}
		head, kept = append(head, name), append(kept, i)
		if i > 0 && name != "with" {
			numbers = append(numbers, len(head))
		}
	}
	text := NewTable(head, numbers...)
	for _, r := range t.Rows {
		var cells table.Row
		for _, i := range kept {
			cells = append(cells, r.Cells[i])
		}
		text.AppendRow(cells)
	}
	return render(text)
}

var (
	//go:embed trace.html
	traceText     string
	traceTemplate = template.Must(template.New("trace").Parse(traceText))
)

// maxPagePoints limits the rows in the HTML page's table of points, which keeps the page small. Points with
// less time are left out.
const maxPagePoints = 1000

// WriteTraceHTML writes the tables and sentences of TraceText as one HTML page that needs no other files.
func WriteTraceHTML(w io.Writer, name string, trace preprocess.Trace, g *Gains) error {
	v := viewOf(name, trace, g, maxPagePoints)
	v.Style = template.CSS(asset("draw.css") + asset("report.css"))
	if err := traceTemplate.Execute(w, v); err != nil {
		return fmt.Errorf("trace as HTML: %w", err)
	}
	return nil
}

// TraceFacts contains all values of a trace and of its estimated gain.
type TraceFacts struct {
	RunSeconds        float64            `json:"run_seconds,omitzero"`        // mean of the ranks; 0 when unknown, as the next two
	CollectiveSeconds float64            `json:"collective_seconds,omitzero"` // in blocking collectives, mean of the ranks
	CollectiveShare   float64            `json:"collective_share,omitzero"`
	Calls             []preprocess.Calls `json:"calls"` // by point
	Gain              *TraceGain         `json:"gain,omitempty"`
}

// NewTraceFacts returns the values of a trace. g may be nil.
func NewTraceFacts(trace preprocess.Trace, g *Gains) TraceFacts {
	f := TraceFacts{RunSeconds: trace.Run, CollectiveSeconds: trace.Collectives, CollectiveShare: trace.CollectiveShare(), Calls: trace.Calls}
	if g != nil {
		gain := g.Of(trace)
		f.Gain = &gain
	}
	return f
}

// Gains estimates how much time the selection of a campaign saves in the calls of an application.
type Gains struct {
	Name         string // of the campaign
	verdict      Verdict
	byCollective map[coll.Collective]tunedCells
}

// TraceGain is the estimated effect of a campaign's files on an application.
type TraceGain struct {
	Campaign  string   `json:"campaign"`
	Library   string   `json:"library"`
	Source    string   `json:"source"`                  // where the gain is known from, such as "predicted, not verified"
	Seconds   float64  `json:"saved_seconds"`           // of a rank, on average
	Saved     float64  `json:"saved"`                   // share of the collective time in the trace
	Covered   float64  `json:"covered"`                 // share of that time at calls that are near tuned points
	OfRun     float64  `json:"saved_of_run,omitzero"`   // share of the application's time; 0 when unknown
	BreakEven *float64 `json:"break_even_node_seconds"` // of the application, after which the campaign has paid off; null when it never does, or unknown
}

// tunedCells contains the points of a problem at which the time of the default is known.
type tunedCells struct {
	rows   [][]float64 // of preprocess.Rows
	cells  []Cell
	ratios []float64 // tuned time over the default's: as a verification measured it, else as predicted
}

// ReadGains reads the results for one library from a campaign's report.json. `library` may be
// empty if the campaign has only one library.
func ReadGains(path, library string) (*Gains, error) {
	text, err := infile.Read(path, infile.NoLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: want the folder of a campaign; tutti report FOLDER writes this file", err)
	} else if err != nil {
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
	g := &Gains{Name: f.Campaign, verdict: Verdict{Library: library, Evidence: Predicted}, byCollective: map[coll.Collective]tunedCells{}}
	for _, v := range f.Verdicts() {
		if v.Library == library {
			g.verdict = v
		}
	}
	measured := f.measuredRatios(library)
	for _, p := range f.Problems {
		if p.Library == library {
			g.byCollective[coll.Collective(p.Collective)] = tunedCellsOf(p, measured)
		}
	}
	return g, nil
}

func tunedCellsOf(p ProblemFacts, measured map[coll.Point]float64) tunedCells {
	var t tunedCells
	var points []coll.Point
	for _, c := range p.Cells {
		if c.Slowdown != nil && c.DefaultSlowdown != nil && *c.Slowdown > 0 && *c.DefaultSlowdown > 0 {
			point := c.Point
			point.Collective = coll.Collective(p.Collective)
			ratio, ok := measured[point]
			if !ok {
				ratio = *c.Slowdown / *c.DefaultSlowdown
			}
			t.cells, t.ratios, points = append(t.cells, c), append(t.ratios, ratio), append(points, point)
		}
	}
	t.rows = preprocess.Rows(points)
	return t
}

// at returns the algorithm that is selected at the tuned point nearest to p. It also returns the proportion
// of the default's time that this algorithm saves. It returns false if no tuned point is near, or if g is nil.
func (g *Gains) at(p coll.Point) (selected string, saving float64, ok bool) {
	if g == nil || len(g.byCollective[p.Collective].cells) == 0 {
		return "", 0, false
	}
	t := g.byCollective[p.Collective]
	k, distance := preprocess.Nearest(t.rows, p)
	if distance >= preprocess.Far {
		return "", 0, false
	}
	return t.cells[k].Algorithm, 1 - t.ratios[k], true
}

// Of returns the estimated effect of the campaign's files on the application with the given trace.
func (g *Gains) Of(trace preprocess.Trace) TraceGain {
	var all, blocking traceLine
	blockingOnes, ranks := coll.BlockingCollectives(), trace.KnownRanks()
	for _, c := range trace.Calls {
		all.add(c, ranks, g)
		if slices.Contains(blockingOnes, c.Collective) { // computation may hide the others
			blocking.add(c, ranks, g)
		}
	}
	out := TraceGain{Campaign: g.Name, Library: g.verdict.Library, Source: g.verdict.sourceText(), Seconds: all.saved}
	if all.seconds > 0 {
		out.Saved, out.Covered = all.saved/all.seconds, all.covered/all.seconds
	}
	if blocking.seconds > 0 {
		out.OfRun = trace.CollectiveShare() * blocking.saved / blocking.seconds
	}
	if cost := g.verdict.Cost.Tuning + g.verdict.Cost.Verification; out.OfRun > 0 && cost > 0 {
		after := cost / out.OfRun
		out.BreakEven = &after
	}
	return out
}

// sentences describe the estimated effect. They say where the gain is known from, and that it is smaller where ranks
// wait for each other, because the times in a trace include waiting.
func (t TraceGain) sentences(all traceLine) []string {
	saved := fmt.Sprintf("Campaign %s saves %s of the time in collectives, %s of %s", t.Campaign, FormatShare(t.Saved), FormatSeconds(t.Seconds), FormatSeconds(all.seconds))
	if t.OfRun != 0 {
		saved += ", and " + FormatShare(t.OfRun) + " of the run"
	}
	out := []string{
		saved + " (" + t.Source + ").",
		fmt.Sprintf("The saving is smaller where ranks wait for each other. Calls with %s of the time are near tuned points.", FormatShare(t.Covered)),
	}
	if t.BreakEven != nil {
		out = append(out, "The campaign has paid off after "+FormatNodeSeconds(*t.BreakEven)+" of this application.")
	}
	return out
}
