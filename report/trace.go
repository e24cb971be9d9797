package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"

	"tutti/coll"
	"tutti/preprocess"
)

// traceLine is a line about calls of a trace: of a collective, or of a point.
type traceLine struct {
	Collective               coll.Collective
	Layout, Bytes            string // of a point
	Calls                    string
	Seconds, Mean            string
	Shortest, Longest, Share string
	Width                    template.CSS // of the bar: the share
	Gain                     gain

	calls, seconds, shortest, longest float64
}

// traceView is what a trace amounts to, in lines by falling time.
type traceView struct {
	Name        string
	Style       template.CSS
	Total       string
	Calls       string
	Collectives []traceLine
	Points      []traceLine
	Left        int    // points that are not shown
	Gains       string // a sentence; empty where no campaign was asked
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

// finish puts figures into words. Where a trace has no times, calls count.
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
	l.Share, l.Width = formatShare(share), template.CSS(fmt.Sprintf("width:%.1f%%", 100*share))
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

func byTime(a, b traceLine) int {
	return cmp.Or(-cmp.Compare(a.seconds, b.seconds), -cmp.Compare(a.calls, b.calls))
}

// viewOf adds up a trace; of its points the most are shown that have the most time.
func viewOf(name string, calls []preprocess.Calls, g *Gains, most int) traceView {
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
	v.Left = max(0, len(v.Points)-most)
	v.Points = v.Points[:len(v.Points)-v.Left]
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

// WriteTrace writes two text tables of where the collective time of an application goes:
// by collective, and the most points that have the most of it. Where gains are not nil
// it says what they spare; then the trace has times.
func WriteTrace(w io.Writer, calls []preprocess.Calls, g *Gains, most int) error {
	v := viewOf("", calls, g, most)
	head := []any{"collective", "calls", "time", "share", "a call", "shortest", "longest"}
	if g != nil {
		head = append(head, "spares")
	}
	t := newTable(head, 2, 3, 4, 5, 6, 7, 8)
	for _, l := range v.Collectives {
		row := table.Row{l.Collective, l.Calls, l.Seconds, l.Share, l.Mean, l.Shortest, l.Longest}
		if g != nil {
			row = append(row, l.Gain.Spares)
		}
		t.AppendRow(row)
	}
	if err := writeTable(w, t); err != nil {
		return err
	}
	head = []any{"collective", "nodes x ppn", "bytes", "calls", "time", "share", "a call", "shortest", "longest"}
	if g != nil {
		head = append(head, "spares", "by")
	}
	t = newTable(head, 3, 4, 5, 6, 7, 8, 9, 10)
	for _, l := range v.Points {
		row := table.Row{l.Collective, l.Layout, l.Bytes, l.Calls, l.Seconds, l.Share, l.Mean, l.Shortest, l.Longest}
		if g != nil {
			row = append(row, l.Gain.Spares, l.Gain.Selected)
		}
		t.AppendRow(row)
	}
	if err := writeTable(w, t); err != nil {
		return err
	}
	end := ""
	if v.Left > 0 {
		end = fmt.Sprintf("and %d more points\n", v.Left)
	}
	if v.Gains != "" {
		end += v.Gains + "\n"
	}
	_, err := io.WriteString(w, end)
	return err
}

var (
	//go:embed trace.html
	traceText     string
	traceTemplate = template.Must(template.New("trace").Parse(traceText))
)

// mostOnPage is how many points a page shows.
const mostOnPage = 1000

// WriteTraceHTML writes the same as one HTML page that needs nothing else.
func WriteTraceHTML(w io.Writer, name string, calls []preprocess.Calls, g *Gains) error {
	v := viewOf(name, calls, g, mostOnPage)
	v.Style = pageCSS()
	if err := traceTemplate.Execute(w, v); err != nil {
		return fmt.Errorf("trace as HTML: %w", err)
	}
	return nil
}
