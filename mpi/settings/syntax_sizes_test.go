package settings

import (
	"errors"
	"math"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
	"tutti/selection"
)

// TestSizeRangesLoss checks that no exported algorithm loses more than allowed. The ranges must select the
// same algorithms as the trees. It tests every bound, the numbers next to it, and sizes beyond the tuned
// ones.
func TestSizeRangesLoss(t *testing.T) {
	b := mvapich(t)
	for seed := range uint64(4) {
		rows := mpilibrarytest.Rows(b.cat, seed, 0.6)
		sel, x := mpilibrarytest.FitAndExport(t, b, rows, mpi.FitOptions{MaxLoss: 0.2})
		set := 0
		for _, r := range rows {
			alg, ok := sel.Select(r.Point)
			if !ok || alg.IsDefault() {
				continue
			}
			set++
			if loss, ok := r.Loss(alg); !ok || loss > 0.2 {
				t.Errorf("seed %d: %v: %v loses %g", seed, r.Point, alg, loss)
			}
		}
		if set == 0 {
			t.Errorf("seed %d: nothing is set", seed)
		}
		checkSizeRanges(t, b, x.Setup, sel)
	}
}

// checkSizeRanges compares trees with their ranges. It tests every bound, the numbers next to it, and sizes
// beyond the tuned ones.
func checkSizeRanges(t *testing.T, b build, s selection.Setup, sel selection.Selection) {
	t.Helper()
	for _, l := range sel.Layouts {
		for i, tree := range l.Trees {
			ranges := testutil.Must(parseSizeRanges(s.For(l.Layout)[i].Value, 32))(t)
			bands := tree.Comms[0].PPNs[0].Bands
			for _, band := range bands {
				for _, bytes := range []int64{0, band.UpTo - 1, band.UpTo, band.UpTo + 1, math.MaxInt32 - 1} {
					alg, ok := tree.Lookup(l.Layout.Ranks(), 1, bytes)
					if !ok { // above the tuned sizes
						alg = bands[len(bands)-1].Algorithm
					}
					if alg.IsDefault() { // below the tuned sizes
						alg = bands[1].Algorithm
					}
					want := testutil.Must(b.cat.Lookup(tree.Collective, alg))(t)
					if got := ranges.find(bytes); bytes >= 0 && got != want.ID {
						t.Fatalf("%s %s %d B: algorithm %d, want %d", tree.Collective, l.Layout, bytes, got, want.ID)
					}
				}
			}
		}
	}
}

// mvapichRows returns rows for two layouts. On one of them the library's own choice is the best for large
// messages.
func mvapichRows() []selection.Row {
	names := [2]string{"binomial", "knomial"}
	a, b := coll.Layout{Nodes: 2, PPN: 2}, coll.Layout{Nodes: 4, PPN: 2}
	return []selection.Row{
		row(a, 64, names, 1, 2, 3), row(a, 65536, names, 2, 1.01, 1),
		row(b, 64, names, 1, 2, 3), row(b, 65536, names, 2, 1.5, 1),
	}
}

// TestSizeRangesLeftToLibrary checks that Fit leaves a collective to the library if no value would be good
// enough.
func TestSizeRangesLeftToLibrary(t *testing.T) {
	b := mvapich(t)
	scans := mvapichRows()
	for i := range scans {
		scans[i].Point.Collective = coll.Scan
	}
	sizes := mvapichRows()[:2]
	for i := range sizes {
		sizes[i].Point.Collective, sizes[i].Point.MsgBytes = coll.Allreduce, int64(1+i)
	}
	for _, tc := range []struct {
		name    string
		rows    []selection.Row
		maxLoss float64
	}{
		{"the default is best at a size", mvapichRows(), 0.001},
		{"there is no variable", scans, 9},
		{"two sizes within one float need different algorithms", sizes, 0.02},
	} {
		sel, err := b.Fit(tc.rows, tc.maxLoss)
		if err != nil || len(sel.Layouts) != 0 {
			t.Errorf("%s: Fit = %v, %v, want no layout", tc.name, sel.Layouts, err)
		}
	}
}

func TestSizeRangesExportErrors(t *testing.T) {
	b := mvapich(t)
	rows := mvapichRows()
	rows[0].Options[0].Algorithm.Name = "smp"
	sel := testutil.Must(b.Fit(rows, 0.02))(t)
	if _, err := b.Export(sel, "/dir"); !errors.Is(err, mpi.ErrUnknown) {
		t.Errorf("unknown algorithm: %v", err)
	}
	common := testutil.Must(selection.FitAll(mvapichRows(), b.lib.Size, 0))(t)
	common.Layouts = []selection.LayoutTrees{{Layout: coll.Layout{Nodes: 2, PPN: 2}, Trees: common.Trees}}
	if _, err := b.Export(common, "/dir"); err == nil || !strings.Contains(err.Error(), "for each layout") {
		t.Errorf("a selection for all layouts: %v", err)
	}
}

func TestSizeRangesReplayErrors(t *testing.T) {
	b := mvapich(t)
	for _, value := range []string{"8:0-2048,1:2049-+", "1"} {
		sel, x := mpilibrarytest.FitAndExport(t, b, mvapichRows(), mpi.FitOptions{MaxLoss: 0.02})
		x.Setup.Layouts[0].Settings[0].Value = value
		if err := b.Replay(x, sel, mvapichRows()); err == nil || !strings.Contains(err.Error(), "the settings select algorithm") {
			t.Errorf("%s: Replay = %v", value, err)
		}
		x.Setup.Layouts[0].Layout.Nodes = 4
		if err := b.Replay(x, sel, mvapichRows()); err == nil {
			t.Errorf("%s for another layout: no error", value)
		}
	}
}

func TestParseSizeRanges(t *testing.T) {
	ranges := testutil.Must(parseSizeRanges("2:0-1024,1:1025-8192,3:8193-+", 32))(t)
	for size, want := range map[int64]int{0: 2, 1024: 2, 1025: 1, 8192: 1, 8193: 3, 1 << 40: 3} {
		if got := ranges.find(size); got != want {
			t.Errorf("find(%d) = %d, want %d", size, got, want)
		}
	}
	for _, text := range []string{
		"", "x", "-1", "01", "1:", "1:0-", "1:0-5", "1:1-+", "1:0-5,2:7-+", "1:0-+,2:6-+", "1:0-5,2:6-9", "1:0-5,", "1:5-4,2:5-+", "99999999999",
		strings.Repeat("1:0-1,", 32) + "1:2-+",
	} {
		if got, err := parseSizeRanges(text, 32); !errors.Is(err, errSyntax) {
			t.Errorf("parseSizeRanges(%q) = %v, %v, want errSyntax", text, got, err)
		}
	}
}
