package export_test

import (
	"path/filepath"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/metrics"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/preprocess"
	"tutti/selection"
)

const recordedData = "../../data/simgrid"

// offGridRows returns recorded times under a library's names as rows, what it can run
// at each point.
func offGridRows(t *testing.T, file string, cat *mpi.Catalogue) []selection.Row {
	t.Helper()
	table, err := preprocess.ReadTable(filepath.Join(recordedData, file))
	if err != nil {
		t.Fatal(err)
	}
	names, err := preprocess.ReadNames(filepath.Join(recordedData, "names.csv"))
	if err != nil {
		t.Fatal(err)
	}
	named, _ := names.Translate(table.Measurements(), cat.Library)
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

// rowsAt keeps the rows whose points are wanted.
func rowsAt(rows []selection.Row, wanted func(coll.Point) bool) []selection.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r selection.Row) bool { return !wanted(r.Point) })
}

// lossesAt are the slowdowns of choices that are recorded at the rows' points.
func lossesAt(t *testing.T, rows []selection.Row, choose func(coll.Point) coll.Algorithm) metrics.Summary {
	t.Helper()
	var slowdowns []float64
	for _, row := range rows {
		if loss, ok := row.Loss(choose(row.Point)); ok {
			slowdowns = append(slowdowns, 1+loss)
		}
	}
	s, err := metrics.Summarize(slowdowns, metrics.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOffTheGrid asks the rules fitted to powers of two for other numbers of nodes,
// processes and bytes: there is no cliff, what they choose can run nearly everywhere,
// and some points between in the grid mend what is lost at the others.
func TestOffTheGrid(t *testing.T) {
	between := func(p coll.Point) bool { return p.Nodes == 3 || p.Nodes == 6 || p.Nodes == 12 }
	tests := []struct {
		library, version, data string
		most                   float64 // average slowdown with powers of two alone
		mended                 float64 // at other points between, with 3, 6 and 12 nodes
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
			if err != nil {
				t.Fatal(err)
			}
			build, err := library.Open(cat, "")
			if err != nil {
				t.Fatal(err)
			}
			opt := mpi.FitOptions{MaxLoss: 0.02}
			on, off := offGridRows(t, tc.data+".csv", cat), offGridRows(t, tc.data+"_np2.csv", cat)
			sel, err := build.Fit(on, opt)
			if err != nil {
				t.Fatal(err)
			}
			choose := func(p coll.Point) coll.Algorithm {
				alg, _ := sel.Select(p)
				return alg
			}
			got := lossesAt(t, off, choose)
			t.Logf("between powers of two: %+v", got)
			if got.Slowdown > tc.most {
				t.Errorf("slowdown %.3f, want at most %.3f", got.Slowdown, tc.most)
			}
			if cannot := len(off) - got.Points; cannot*20 > len(off) {
				t.Errorf("at %d of %d points the choice cannot run or is not recorded", cannot, len(off))
			}
			sel, err = build.Fit(slices.Concat(on, rowsAt(off, between)), opt)
			if err != nil {
				t.Fatal(err)
			}
			others := rowsAt(off, func(p coll.Point) bool { return !between(p) })
			mended := lossesAt(t, others, choose)
			t.Logf("with 3, 6 and 12 nodes in the grid, elsewhere: %+v", mended)
			if mended.Slowdown > tc.mended {
				t.Errorf("slowdown %.3f elsewhere with 3, 6 and 12 nodes in the grid, want at most %.3f", mended.Slowdown, tc.mended)
			}
		})
	}
}
