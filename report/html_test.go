package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
)

func writtenHTML(t *testing.T, f Facts) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteHTML(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHTMLSections(t *testing.T) {
	page := writtenHTML(t, smallFacts())
	for _, want := range []string{
		"<title>autumn on hilltop: convergence report</title>",
		"2 of 4 problems did not converge", "NOT CONVERGED: budget",
		`<a href="#problem4">openmpi bcast</a>`, `<section id="problem4">`,
		"<h3>Convergence</h3>", "<h3>Hyperparameters of the forests</h3>",
		"Selected algorithm at each point", "Slowdown at each point, tuned and default",
		"What was measured where", "Held-out predictions against measurements",
		"1.012 [1.009, 1.016]", "1.470 [1.410, 1.530]", "2, worst 1.080",
		"1 node was drained during the campaign", "the interval of the slowdown is wide",
		"mpich.json", "go1.26.0", "machine time (min)", "mistakes (% of points)", "nodes (number)", "message size",
		"wanted 1.03", "default 1.470", "prefers-color-scheme:dark", "@media print",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(page, `<section id="problem`); n != 4 {
		t.Errorf("%d sections of problems, want 4", n)
	}
}

func TestHTMLStandsAlone(t *testing.T) {
	page := strings.ToLower(writtenHTML(t, smallFacts()))
	for _, bad := range []string{"http", "<script", "<link", "<img", "@import", "url(", "src=", "nan", "+inf", "zgotmplz", "%!"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %q", bad)
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

var plainStyle = regexp.MustCompile(`style=|#[0-9A-F]{6}`)

var svgElement = regexp.MustCompile(`(?s)<svg.*?</svg>`)

func TestSVGWellFormed(t *testing.T) {
	plots := svgElement.FindAllString(writtenHTML(t, hostileFacts()), -1)
	if len(plots) < 20 {
		t.Fatalf("%d plots, want more", len(plots))
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
		if plainStyle.MatchString(plot) {
			t.Errorf("a style or colour is left in %.300s", plot)
		}
	}
}

const hostile = `<script>alert("1")</script>&'`

// hostileFacts has a hostile name wherever there is text.
func hostileFacts() Facts {
	f := smallFacts()
	f.Tutti, f.Campaign, f.Machine, f.Strategy, f.Scaling = hostile, hostile, hostile, hostile, hostile
	f.Warnings = []string{hostile}
	f.Versions = []Version{{hostile, hostile}}
	f.Libraries[0] = LibraryFacts{Library: hostile, Version: hostile, Origin: hostile, Files: []string{hostile}}
	p := &f.Problems[0]
	p.Library, p.Collective, p.Stop, p.Warnings = hostile, hostile, hostile, []string{hostile}
	p.Curve[0].Source = hostile
	p.Scores[0].Name, p.Scores[0].Source = hostile, hostile
	p.Algorithms[0].Name, p.Cells[0].Selected = hostile, hostile
	p.HPO[0].State, p.HPO[0].Params = hostile, []Param{{hostile, hostile}}
	p.Forest = []Param{{hostile, hostile}}
	return f
}

func TestHTMLEscapes(t *testing.T) {
	page := writtenHTML(t, hostileFacts())
	if strings.Contains(page, "<script") || strings.Contains(page, `alert("`) {
		t.Error("a hostile name reached the page unescaped")
	}
	if !strings.Contains(page, "&lt;script&gt;") {
		t.Error("the hostile name is not shown")
	}
}

func TestHTMLAbsentFigures(t *testing.T) {
	value := 1.02
	tests := []struct {
		name  string
		facts Facts
		want  []string
	}{
		{name: "nothing at all", want: []string{"No problem was tuned", "No files were written"}},
		{
			name:  "a problem without anything",
			facts: Facts{Problems: []ProblemFacts{{Library: "mpich", Collective: "bcast"}}},
			want:  []string{"STILL RUNNING", "not evaluated", "nothing was evaluated yet", "No algorithm is known", "the grid has no points"},
		},
		{
			name: "one of everything, all zero",
			facts: Facts{Problems: []ProblemFacts{{
				Curve: []CurvePoint{{}}, Scores: []Score{{}, {Name: "default"}}, Cells: []Cell{{}}, HPO: []HPOTrial{{}},
				Algorithms: []AlgorithmFacts{{Parity: []Parity{{}}}},
			}}},
			want: []string{"<svg", ">?</text>"},
		},
		{
			name: "equal values",
			facts: Facts{Problems: []ProblemFacts{{
				Curve: []CurvePoint{{MachineSeconds: 5, Slowdown: 1}, {MachineSeconds: 5, Slowdown: 1}},
				HPO:   []HPOTrial{{Number: 3, State: "complete", Value: &value, Best: &value}},
				Cells: []Cell{{Nodes: 1, PPN: 1, Selected: "ring", TunedSlowdown: &value}, {Nodes: 2, PPN: 2}},
			}}},
			want: []string{">1.02</text>", ">0B</text>", ">A</span></td><td>ring</td>"},
		},
		{
			name: "only failed trials of the study",
			facts: Facts{Problems: []ProblemFacts{{
				HPO: []HPOTrial{{Number: 0, State: "failed"}, {Number: 1, State: "failed"}},
			}}},
			want: []string{"<td>failed</td>"},
		},
		{
			name: "extreme values",
			facts: Facts{Problems: []ProblemFacts{{
				Curve: []CurvePoint{{MachineSeconds: 1e-9, Slowdown: 1e12, R2: -1e9}, {MachineSeconds: 1e9, Slowdown: 0.2}},
			}}},
			want: []string{"machine time (h)"},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			page := writtenHTML(t, tc.facts)
			for _, want := range tc.want {
				if !strings.Contains(page, want) {
					t.Errorf("the page lacks %q", want)
				}
			}
			for _, bad := range []string{"NaN", "Inf", "-0<", "%!", "nil"} {
				if strings.Contains(page, bad) {
					t.Errorf("the page contains %q", bad)
				}
			}
		})
	}
}

// The page of ten problems on a large grid has to stay small enough to mail and
// quick to make. The limit of time is generous: machines differ.
func TestHTMLSize(t *testing.T) {
	if testing.Short() {
		t.Skip("draws hundreds of plots")
	}
	f := syntheticFacts([]string{"mpich", "openmpi"}, []string{"allgather", "allreduce", "alltoall", "bcast", "reduce"}, 7, 21, 5)
	start := time.Now()
	page := writtenHTML(t, f)
	t.Logf("%d bytes in %v", len(page), time.Since(start))
	if len(page) > 6<<20 {
		t.Errorf("the page has %d bytes, want at most 6 MiB", len(page))
	}
	if took := time.Since(start); took > 2*time.Minute {
		t.Errorf("drawing took %v", took)
	}
}

func BenchmarkWriteHTML(b *testing.B) {
	f := syntheticFacts([]string{"mpich", "openmpi"}, []string{"allgather", "allreduce", "alltoall", "bcast", "reduce"}, 7, 21, 5)
	for b.Loop() {
		if err := WriteHTML(io.Discard, f); err != nil {
			b.Fatal(err)
		}
	}
}
