package report_test

import (
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"

	"tutti/coll"
	"tutti/report"
)

// TestUnits checks the format of durations and node-hours. format.test.mjs has the same rows for the pages.
func TestUnits(t *testing.T) {
	for s, want := range map[float64]string{
		0: "0 s", 0.0004: "400 µs", 0.0412: "41.2 ms", 1: "1 s", 3.14: "3.1 s", 119.9: "119.9 s", 120: "2 min", 194: "3.2 min", 7200: "2 h", 180000: "50 h", -90: "-90 s",
	} {
		if got := report.FormatSeconds(s); got != want {
			t.Errorf("FormatSeconds(%g) = %q, want %q", s, got, want)
		}
	}
	for h, want := range map[float64]string{24: "24", 12.44: "12.4", 0.0234: "0.023", 0.00246: "0.0025", 0: "0"} {
		if got := report.FormatNodeHours(h); got != want {
			t.Errorf("FormatNodeHours(%g) = %q, want %q", h, got, want)
		}
	}
	if got, want := report.FormatNodeSeconds(11520), "3.2 node h"; got != want {
		t.Errorf("FormatNodeSeconds = %q, want %q", got, want)
	}
}

// TestWidth checks tables and maps that end at a width: columns are broken between words and behind parts of names.
func TestWidth(t *testing.T) {
	rows := []table.Row{{"binomial", 1, "8 ranks, 0 to 64 B"}, {"scatter_ring_allgather(segsize=8)", 22, "any"}, {"abcdefghijklmnopqrstuvw", 3, ""}}
	got := report.TableWithin(40, []any{"algorithm", "line", "serves"}, rows, 2)
	want := `algorithm         line  serves
────────────────  ────  ────────────────
binomial             1  8 ranks, 0 to 64
                        B
scatter_ring_       22  any
allgather(
segsize=8)
abcdefghijklmnop     3
qrstuvw`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var p report.ProblemFacts
	for _, size := range []int64{8, 64, 1024, 1 << 20} {
		at := coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: size}
		p.Cells = append(p.Cells, report.Cell{Point: at, Algorithm: "ring"})
	}
	got, want = report.SelectionOf(p).Within(20), "nodes x ppn 8B 64B\n2x1         A  A\n\nnodes x ppn 1KiB\n2x1         A\n\nnodes x ppn 1MiB\n2x1         A\n\n·  library_default\nA  ring\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
