package report

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/preprocess"
)

func traced() preprocess.Trace {
	at := func(c coll.Collective, ppn int, bytes int64) coll.Point {
		return coll.Point{Collective: c, Nodes: 2, PPN: ppn, MsgBytes: bytes}
	}
	return preprocess.Trace{Run: 16, Collectives: 4, Calls: []preprocess.Calls{
		{Point: at(coll.Barrier, 4, 0), Calls: 10, Seconds: 1},
		{Point: at(coll.Bcast, 4, 1024), Calls: 100, Seconds: 2, Shortest: 0.01, Longest: 0.5},
		{Point: at(coll.Bcast, 2, 8), Calls: 50, Seconds: 2, Shortest: 0.001, Longest: 0.1}, // of two communicators at once
	}}
}

func TestTraceText(t *testing.T) {
	whole := TraceText(traced(), nil, 2, 80)
	want := []string{"bcast", "150", "75", "bcast", "2x4", "1KiB", "100", "50", "and 1 more points", "4 s of 16 s in blocking collectives, 25 % of the run"}
	rest := whole
	for _, w := range want {
		at := strings.Index(rest, w)
		if at < 0 {
			t.Fatalf("%q is missing or in the wrong order:\n%s", w, whole)
		}
		rest = rest[at+len(w):]
	}
}

// TestTraceTextWidth checks that tables with the longest names fit into 80 columns, with and without a campaign.
func TestTraceTextWidth(t *testing.T) {
	p := coll.Point{Collective: "reduce_scatter_block_init", Nodes: 1024, PPN: 128, MsgBytes: 1000003}
	calls := preprocess.Calls{Point: p, Calls: 123456, Seconds: 123.45, Shortest: 0.01234, Longest: 0.6789}
	p.Collective = coll.ReduceScatterBlock
	slow, fast := 2.0, 1.0
	cell := Cell{Point: p, Algorithm: "recursive_halving_and_doubling(segsize=65536)", Slowdown: &fast, DefaultSlowdown: &slow}
	g := &Gains{Name: "night", byCollective: map[coll.Collective]tunedCells{p.Collective: tunedCellsOf(ProblemFacts{Collective: string(p.Collective), Cells: []Cell{cell}}, nil)}}
	for _, gains := range []*Gains{nil, g} {
		if gains != nil {
			calls.Point = p // persistent calls are not tuned
		}
		trace := preprocess.Trace{Calls: []preprocess.Calls{calls}}
		for line := range strings.Lines(TraceText(trace, gains, 9, 80)) {
			if n := text.StringWidthWithoutEscSequences(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

// TestTraceTextWithoutTimes checks that the table for a trace without times shows the proportions of
// calls.
func TestTraceTextWithoutTimes(t *testing.T) {
	trace := traced()
	for i, calls := 0, trace.Calls; i < len(calls); i++ {
		calls[i].Seconds, calls[i].Shortest, calls[i].Longest = 0, 0, 0
	}
	if text := TraceText(trace, nil, 9, 80); !strings.Contains(text, FormatShare(150.0/160)) || strings.Contains(text, "NaN") {
		t.Errorf("want shares of calls:\n%s", text)
	}
}

func TestWriteTraceHTML(t *testing.T) {
	var b strings.Builder
	testutil.NoError(t, WriteTraceHTML(&b, "a<b>.csv", traced(), nil))
	for _, want := range []string{"a&lt;b&gt;.csv", "width:75.0%", ">2x2 8B</td>", "--paper: "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if strings.Contains(b.String(), "ZgotmplZ") || strings.Contains(b.String(), "<script") {
		t.Error("the page has a script or an unsafe attribute")
	}
}

// TestGains checks that a call saves as much as the nearest tuned point. A call far from all tuned points
// must save nothing.
func TestGains(t *testing.T) {
	at := func(bytes int64, algorithm string, tuned, byDefault float64) Cell {
		return Cell{Point: coll.Point{Nodes: 2, PPN: 4, MsgBytes: bytes}, Algorithm: algorithm, Slowdown: &tuned, DefaultSlowdown: &byDefault}
	}
	unknown := at(1024, "ring", 1, 1)
	unknown.DefaultSlowdown = nil
	f := Facts{Campaign: "night", Problems: []ProblemFacts{
		{Library: "mpich", Collective: "bcast", Cells: []Cell{at(1024, "ring", 1, 9)}},
		{Library: "libtutti", Collective: "bcast", Cells: []Cell{unknown, at(2048, "binomial", 1, 2), at(1<<20, "pipeline", 1, 4)}},
	}}
	path := filepath.Join(t.TempDir(), "report.json")
	text, err := json.Marshal(f)
	if err == nil {
		err = os.WriteFile(path, text, 0o666)
	}
	testutil.NoError(t, err)
	_, err = ReadGains(path, "")
	testutil.GoldenErrors(t)("of two libraries", err)
	g := testutil.Must(ReadGains(path, "libtutti"))(t)
	var page strings.Builder
	testutil.NoError(t, WriteTraceHTML(&page, "trace.csv", traced(), g))
	// The selection saves one of the two seconds of bcast with 1 KiB. No tuned point is near bcast with 8
	// B, and barrier was not tuned.
	for _, out := range []string{TraceText(traced(), g, 9, 1000), page.String()} {
		for _, want := range []string{"saving", "binomial", "Campaign night saves " + FormatShare(0.25), "and 6.3 % of the run (predicted, not verified)", FormatShare(1.0 / 3), "Calls with " + FormatShare(0.5)} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
	}
}

// TestReadGainsWithoutReport checks that the error about a folder without a report says what writes it.
func TestReadGainsWithoutReport(t *testing.T) {
	_, err := ReadGains(filepath.Join(t.TempDir(), "report.json"), "mpich")
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "tutti report FOLDER writes this file") {
		t.Errorf("ReadGains = %v, want what writes the file", err)
	}
}
