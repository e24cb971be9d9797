package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/internal/testutil"
)

func writtenHTML(t testing.TB, f Facts) string {
	t.Helper()
	var b bytes.Buffer
	testutil.NoError(t, WriteHTML(&b, f))
	return b.String()
}

// static returns the body of the page up to the embedded facts. A browser shows this part without
// JavaScript.
func static(t *testing.T, f Facts) string {
	t.Helper()
	page := writtenHTML(t, f)
	end := strings.Index(page, `<script type="text/plain"`)
	if end < 0 {
		t.Fatal("the page has no facts")
	}
	return page[strings.Index(page, "<body>"):end]
}

func wantTexts(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	for _, bad := range []string{"NaN", "+Inf", "%!", "<nil>", "ZgotmplZ"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
}

// TestStaticPage checks that, without JavaScript, the page has the scores, the selection and a chart for
// each problem.
func TestStaticPage(t *testing.T) {
	page := static(t, smallFacts())
	wantTexts(t, page,
		"2 of 4 problems did not converge", "NOT CONVERGED: budget", `<a href="#openmpi-bcast">openmpi bcast</a>`, `<section class="panel static" id="openmpi-bcast">`,
		"1.012 [1.009, 1.016]", "1.470 [1.410, 1.530]", "2, worst 1.080",
		"1 node was drained during the campaign", "the interval of the slowdown is wide", "mpich.json", "go1.26.0",
		"wanted 1.03", "library&#39;s default 1.47", "A binomial, B chain(segsize=65536)", "nodes x ppn 8B 16B", "2x1         A  A",
	)
	if n := strings.Count(page, "<svg"); n != 4 {
		t.Errorf("%d charts of 4 problems", n)
	}
	for _, want := range []string{"<title>autumn on hilltop: report</title>", "prefers-color-scheme: dark", "@media print"} {
		if !strings.Contains(writtenHTML(t, smallFacts()), want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
}

func TestStaticPageOfLiveCampaign(t *testing.T) {
	f := liveFacts()
	tuned := coll.Placements{Order: coll.Block, PPN: []int{2}, Switches: []coll.Switches{{Nodes: 2, Least: 1, Most: 1}, {Nodes: 4, Least: 1, Most: 2}}}
	f.Libraries[0].Placement, f.Verification[0].OtherPlacements = &tuned, []string{"2 nodes on 2 switches, not on 1", "4 nodes on 4 switches, not on 1 to 2"}
	wantTexts(t, static(t, f),
		`id="verification"`, "1.210 [1.150, 1.280]", "all (1 points)", "Reverted to the default", "<td>fails</td>", "run: killed by signal 11",
		"1 points are slower although they use the default", "This verification has not ended", "data-ratios=\"bcast\" data-library=\"mpich\"",
		`id="excluded"`, `id="machine"`, "0123456789abcdef<", "n07 and 4 more", "obeyed", "performance",
		"2 nodes on 2 switches, not on 1; 4 nodes on 4 switches, not on 1 to 2", "Measured with "+tuned.String(),
	)
	recorded := static(t, smallFacts())
	for _, bad := range []string{`id="verification"`, `id="excluded"`, `id="machine"`} {
		if strings.Contains(recorded, bad) {
			t.Errorf("the page has %s without facts", bad)
		}
	}
}

func TestHTMLSameBytes(t *testing.T) {
	first := writtenHTML(t, smallFacts())
	for range 3 {
		if writtenHTML(t, smallFacts()) != first {
			t.Fatal("the same facts gave another page")
		}
	}
}

var svgElement = regexp.MustCompile(`(?s)<svg.*?</svg>`)

func TestSVGWellFormed(t *testing.T) {
	plots := svgElement.FindAllString(static(t, hostileFacts()), -1)
	if len(plots) != 4 {
		t.Fatalf("%d charts of 4 problems", len(plots))
	}
	for _, plot := range plots {
		dec := xml.NewDecoder(strings.NewReader(plot))
		for {
			_, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in %.300s", err, plot)
			}
		}
	}
}

const hostile = `</script><script>window.harmed=1</script><img src=x onerror="window.harmed=1">&'`

// hostileFacts returns facts whose texts would run a script if the page inserted them as HTML.
func hostileFacts() Facts {
	f := liveFacts()
	f.Tutti, f.Campaign, f.Machine, f.Method, f.Scaling = hostile, hostile, hostile, hostile, hostile
	f.Warnings = []string{hostile}
	f.Versions = []Version{{hostile, hostile}}
	f.Libraries[0] = LibraryFacts{Library: hostile, Version: hostile, Origin: hostile, Files: []string{hostile}}
	p := &f.Problems[0]
	p.Library, p.Collective, p.Stop, p.Warnings = hostile, hostile, hostile, []string{hostile}
	p.Curve[0].Source = hostile
	p.Scores[0].Name, p.Scores[0].Source = hostile, hostile
	p.Algorithms[0].Name, p.Cells[0].Algorithm = hostile, hostile
	p.HPO[0].State, p.HPO[0].Params = hostile, []Param{{hostile, hostile}}
	p.Forest = []Param{{hostile, hostile}}
	v := &f.Verification[0]
	v.Library, v.Collectives[0].Collective, v.Reverted[0].Error, v.ForcingChecks[1].Note = hostile, hostile, hostile, hostile
	f.Excluded[0].Error, f.Environments[0].MPIVersion, f.Environments[0].Nodes = hostile, hostile, []string{hostile}
	return f
}

func TestHTMLEscapes(t *testing.T) {
	page := writtenHTML(t, hostileFacts())
	if strings.Contains(page, hostile[:20]) || strings.Contains(page, "<img src=x") {
		t.Error("a hostile name reached the page unescaped")
	}
	if n := strings.Count(strings.ToLower(page), "</script"); n != 3 {
		t.Errorf("%d ends of scripts, want those of the facts, the charts and the modules", n)
	}
	if !strings.Contains(page, "&lt;script&gt;") {
		t.Error("the page does not contain the hostile name as text")
	}
}

func TestHTMLAbsentFigures(t *testing.T) {
	tests := []struct {
		name  string
		facts Facts
		want  []string
	}{
		{name: "nothing at all", want: []string{"No problem was tuned", "No files were written"}},
		{
			name:  "a problem without anything",
			facts: Facts{Problems: []ProblemFacts{{Library: "mpich", Collective: "bcast"}}},
			want:  []string{"STILL RUNNING", "not evaluated", "Nothing was evaluated yet"},
		},
		{
			name: "one of everything, all zero",
			facts: Facts{Problems: []ProblemFacts{{
				Curve: []activelearn.Evaluation{{}}, Scores: []Score{{}, {Name: "default"}}, Cells: []Cell{{}}, HPO: []HPOTrial{{}},
				Algorithms: []AlgorithmFacts{{Parity: []Parity{{}}}},
			}}},
			want: []string{"<svg"},
		},
		{
			name: "equal values",
			facts: Facts{Problems: []ProblemFacts{{
				Curve: []activelearn.Evaluation{{MachineSeconds: 5, Slowdown: 1}, {MachineSeconds: 5, Slowdown: 1}},
				Cells: []Cell{{Point: coll.Point{Nodes: 1, PPN: 1}, Algorithm: "ring"}, {Point: coll.Point{Nodes: 2, PPN: 2}}},
			}}},
			want: []string{"A ring", "1x1         A"},
		},
		{
			name: "extreme values",
			facts: Facts{Problems: []ProblemFacts{{
				Curve: []activelearn.Evaluation{{MachineSeconds: 1e-9, Slowdown: 1e12, R2: -1e9}, {MachineSeconds: 1e9, Slowdown: 0.2}},
			}}},
			want: []string{"<svg"},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) { wantTexts(t, static(t, tc.facts), tc.want...) })
	}
}

// TestPackedFacts checks that the facts in the page equal those of report.json.
func TestPackedFacts(t *testing.T) {
	var file, want bytes.Buffer
	testutil.NoError(t, WriteJSON(&file, liveFacts()))
	testutil.NoError(t, json.Compact(&want, file.Bytes()))
	compressed := base64.NewDecoder(base64.StdEncoding, strings.NewReader(testutil.Must(packed(liveFacts()))(t)))
	text := testutil.Must(io.ReadAll(testutil.Must(gzip.NewReader(compressed))(t)))(t)
	if string(text) != want.String() {
		t.Errorf("the page has the facts %.300s, want %.300s", text, &want)
	}
}

// TestHTMLSize checks that a page for ten problems (collectives of a library), each with a large grid, has at
// most 1.5 MB.
func TestHTMLSize(t *testing.T) {
	f := syntheticFacts([]string{"mpich", "openmpi"}, []string{"allgather", "allreduce", "alltoall", "bcast", "reduce"}, 7, 21, 5)
	if page := writtenHTML(t, f); len(page) > 1500e3 {
		t.Errorf("the page has %d bytes, want at most 1.5 MB", len(page))
	}
}

func BenchmarkWriteHTML(b *testing.B) {
	f := syntheticFacts([]string{"mpich", "openmpi"}, []string{"allgather", "allreduce", "alltoall", "bcast", "reduce"}, 7, 21, 5)
	for b.Loop() {
		testutil.NoError(b, WriteHTML(io.Discard, f))
	}
}

// TestMarkMeets checks when a curve runs through the label of a line in a chart from 1 to 100 on both axes.
func TestMarkMeets(t *testing.T) {
	p := plot.New()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 1, 100, 1, 100
	falling := plotter.XYs{{X: 1, Y: 100}, {X: 10, Y: 30}, {X: 100, Y: 1}}
	flat := plotter.XYs{{X: 1, Y: 12}, {X: 100, Y: 12}}
	for _, tc := range []struct {
		mark  mark
		curve plotter.XYs
		want  bool
	}{
		{mark{wide: 0.5, y: 10, right: true}, falling, true},
		{mark{wide: 0.5, y: 10}, falling, false},
		{mark{wide: 0.5, y: 10}, falling[2:], false},
		{mark{wide: 0.5, y: 10}, flat, true},
		{mark{wide: 0.5, y: 10, below: true}, flat, false},
		{mark{wide: 0.5, y: 90, right: true}, falling, false},
		{mark{wide: 0.5, y: 50}, plotter.XYs{{X: 1, Y: 60}}, true},
	} {
		if got := tc.mark.meets(p, tc.curve); got != tc.want {
			t.Errorf("%+v and %v: %v, want %v", tc.mark, tc.curve, got, tc.want)
		}
	}
	if got, want := (mark{wide: 0.5, y: 10, right: true}).freeOf(p, []plotter.XYs{falling}), (mark{wide: 0.5, y: 10}); got != want {
		t.Errorf("the label is at %+v, want %+v", got, want)
	}
}
