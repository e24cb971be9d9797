package export_test

import (
	"path/filepath"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/metrics"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/preprocess"
	"tutti/selection"
)

const recordedData = "../../data/simgrid"

// offGridRows returns the recorded times of the algorithms that a library can run, with one row for each point.
func offGridRows(t *testing.T, file string, cat *mpi.Catalogue) []selection.Row {
	t.Helper()
	table := testutil.Must(preprocess.ReadTable(filepath.Join(recordedData, file)))(t)
	names := testutil.Must(preprocess.ReadNames(filepath.Join(recordedData, "names.csv")))(t)
	named := names.Translate(table.Measurements(), cat.Library)
	var rows []selection.Row
	for _, m := range named {
		if cat.Check(m.Candidate) != nil {
			continue
		}
		if n := len(rows); n == 0 || rows[n-1].Point != m.Point {
			rows = append(rows, selection.Row{Point: m.Point})
		}
		last := &rows[len(rows)-1]
		last.Options = append(last.Options, selection.Option{Algorithm: m.Algorithm, Seconds: m.Seconds})
	}
	return rows
}

// rowsAt returns the rows at whose points the function `wanted` returns true.
func rowsAt(rows []selection.Row, wanted func(coll.Point) bool) []selection.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r selection.Row) bool { return !wanted(r.Point) })
}

// qualityAt returns a summary of the slowdowns of the chosen algorithms at the points of the rows. It leaves
// out points where the time of the chosen algorithm is not recorded.
func qualityAt(t *testing.T, rows []selection.Row, choose func(coll.Point) coll.Algorithm) metrics.Summary {
	t.Helper()
	var slowdowns []float64
	for _, row := range rows {
		if loss, ok := row.Loss(choose(row.Point)); ok {
			slowdowns = append(slowdowns, 1+loss)
		}
	}
	return testutil.Must(metrics.Summarize(slowdowns, metrics.Options{}))(t)
}

// TestOffTheGrid fits rules to points whose numbers are powers of two, and checks them at other numbers of
// nodes, processes and bytes. There the slowdown must be small, and the chosen algorithms must be able to run
// at 95 % of the points; the default, which has no recorded times, always can. If the grid also has 3, 6 and 12 nodes, the slowdown at all other points must be
// smaller.
func TestOffTheGrid(t *testing.T) {
	between := func(p coll.Point) bool { return p.Nodes == 3 || p.Nodes == 6 || p.Nodes == 12 }
	tests := []struct {
		library, version, data string
		most                   float64 // maximum average slowdown with powers of two alone
		withBetween            float64 // maximum average slowdown at other points if the grid also has 3, 6 and 12 nodes
	}{
		{"mpich", "4.0.2", "A_bcast", 1.06, 1.04},
		{"openmpi", "4.1.4", "A_bcast", 1.09, 1.04},
		{"mpich", "4.0.2", "A_allreduce", 1.01, 1.01},
		{"openmpi", "4.1.4", "A_allreduce", 1.05, 1.04},
		{"openmpi", "4.1.4", "C_alltoall", 1.03, 1.03},
	}
	for _, tc := range tests {
		t.Run(tc.library+" "+tc.data, func(t *testing.T) {
			library, cat, err := libraries.Release(tc.library, tc.version)
			testutil.NoError(t, err)
			build := testutil.Must(library.Open(cat, ""))(t)
			on, off := offGridRows(t, tc.data+".csv", cat), offGridRows(t, tc.data+"_np2.csv", cat)
			sel := testutil.Must(build.Merge(on, 0.02))(t)
			choose := func(p coll.Point) coll.Algorithm {
				alg, _ := sel.Select(p)
				return alg
			}
			got := qualityAt(t, off, choose)
			t.Logf("between powers of two: %+v", got)
			if got.Slowdown > tc.most {
				t.Errorf("slowdown %.3f, want at most %.3f", got.Slowdown, tc.most)
			}
			cannot := len(rowsAt(off, func(p coll.Point) bool { return !choose(p).IsDefault() })) - got.Points
			if cannot*20 > len(off) {
				t.Errorf("at %d of %d points the choice cannot run or is not recorded", cannot, len(off))
			}
			sel = testutil.Must(build.Merge(slices.Concat(on, rowsAt(off, between)), 0.02))(t)
			others := rowsAt(off, func(p coll.Point) bool { return !between(p) })
			improved := qualityAt(t, others, choose)
			t.Logf("with 3, 6 and 12 nodes in the grid, elsewhere: %+v", improved)
			if improved.Slowdown > tc.withBetween {
				t.Errorf("slowdown %.3f elsewhere with 3, 6 and 12 nodes in the grid, want at most %.3f", improved.Slowdown, tc.withBetween)
			}
		})
	}
}
