package lab_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"image/png"
	"slices"
	"strconv"
	"testing"

	"tutti/coll"
	"tutti/internal/lab"
	"tutti/internal/testutil"
)

func draw(t *testing.T, name string, workers int) lab.Figure {
	t.Helper()
	opt := options()
	opt.Workers = workers
	sets := []lab.Set{set(t, "one", coll.Bcast), set(t, "two_reduce", coll.Reduce)}
	return testutil.Must(lab.Draw(context.Background(), name, sets, lab.Seeds(1, 2), opt))(t)
}

// table returns the rows of a figure's CSV. All rows must have the same length.
func table(t *testing.T, f lab.Figure) [][]string {
	t.Helper()
	var b bytes.Buffer
	testutil.NoError(t, f.WriteCSV(&b))
	return testutil.Must(csv.NewReader(&b).ReadAll())(t)
}

func column(rows [][]string, name string) int { return slices.Index(rows[0], name) }

// TestFigures checks that the table of every figure does not depend on the number of workers, and that the
// picture is a valid PNG.
func TestFigures(t *testing.T) {
	for _, name := range lab.FigureNames() {
		t.Run(name, func(t *testing.T) {
			f := draw(t, name, 1)
			rows := table(t, f)
			if other := table(t, draw(t, name, 2)); !slices.EqualFunc(rows, other, slices.Equal[[]string]) {
				t.Error("two workers give another table")
			}
			if f.Name != name || len(rows) < 5 {
				t.Errorf("%s has %d rows", f.Name, len(rows))
			}
			var picture bytes.Buffer
			testutil.NoError(t, f.WritePNG(&picture))
			image := testutil.Must(png.Decode(&picture))(t)
			if size := image.Bounds().Size(); size.X < 600 || size.Y < 400 {
				t.Errorf("PNG of %v pixels, want 600x400 at least", size)
			}
		})
	}
}

// TestMoreTrainingIsBetter checks that the slowdown in fig3 is lower for the largest training set, which
// has all candidates, than for the smallest.
func TestMoreTrainingIsBetter(t *testing.T) {
	rows := table(t, draw(t, "fig3", 2))
	mean := map[string]float64{}
	for _, r := range rows[1:] {
		if r[column(rows, "data")] == "all" && r[column(rows, "metric")] == "slowdown" {
			v := testutil.Must(strconv.ParseFloat(r[column(rows, "mean")], 64))(t)
			mean[r[column(rows, "share_percent")]] = v
		}
	}
	if len(mean) != 7 || mean["100"] > 1.02 || mean["1"] < mean["100"] {
		t.Errorf("average slowdown by share %v, want 7 shares, near 1 with everything", mean)
	}
}

// TestCollectionTime checks fig8, and fig9 of bcast alone. The training set of all candidates must cost the same
// from every source: the machine time of measuring everything.
func TestCollectionTime(t *testing.T) {
	checkCollectionTime(t, "fig8", coll.Bcast, coll.Reduce)
	checkCollectionTime(t, "fig9", coll.Bcast)
}

func checkCollectionTime(t *testing.T, name string, collectives ...coll.Collective) {
	t.Helper()
	rows := table(t, draw(t, name, 2))
	want := 0.0
	for _, c := range collectives {
		want += testutil.Must(set(t, "x", c).Exhaustive(options().Launch))(t)
	}
	rowsAt100 := 0
	for _, r := range rows[1:] {
		if r[column(rows, "share_percent")] != "100" {
			continue
		}
		rowsAt100++
		if got := r[column(rows, "machine_seconds")]; got != strconv.FormatFloat(want, 'g', 6, 64) {
			t.Errorf("%s: everything costs %s s, want %g", r[0], got, want)
		}
		if r[column(rows, "meets_criteria")] != "true" {
			t.Errorf("%s: everything measured does not meet the criteria: %v", r[0], r)
		}
	}
	if rowsAt100 != 5 {
		t.Errorf("%d rows at 100 %%, want one for each of 5 series", rowsAt100)
	}
}

// TestConvergenceFigure checks that the budget of fig10 ends before the last evaluation, which meets the criterion.
func TestConvergenceFigure(t *testing.T) {
	rows := table(t, draw(t, "fig10", 2))
	within, slowdown := column(rows, "within_budget"), column(rows, "slowdown")
	first, last := rows[1], rows[len(rows)-1]
	if first[within] != "true" || last[within] != "false" || testutil.Must(strconv.ParseFloat(last[slowdown], 64))(t) >= 1.02 {
		t.Errorf("first %v, last %v: want the first within the budget, and the last after it and below 1.02", first, last)
	}
}

func TestHyperparameterTable(t *testing.T) {
	rows := table(t, draw(t, "table4", 2))
	if len(rows) != 21 {
		t.Fatalf("%d rows, want a header and 20 iterations", len(rows))
	}
	paper := column(rows, "paper")
	if rows[1][paper] != "1.04" || rows[2][paper] != "1.057" || rows[3][paper] != "" || rows[20][paper] != "1.019" {
		t.Error("the paper's numbers are not in rows 1, 2 and 20")
	}
	for _, r := range rows[1:] {
		if v, err := strconv.ParseFloat(r[column(rows, "true_slowdown")], 64); err != nil || v < 1 {
			t.Errorf("iteration %s: true slowdown %q", r[0], r[column(rows, "true_slowdown")])
		}
	}
}

func TestDrawRefuses(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	s, reduce := []lab.Set{set(t, "one", coll.Bcast)}, []lab.Set{set(t, "two", coll.Reduce)}
	bad := options()
	bad.Trees = 0
	tests := []struct {
		name   string
		figure string
		sets   []lab.Set
		seeds  []uint64
		opt    lab.Options
	}{
		{name: "unknown", figure: "fig6", sets: s, seeds: []uint64{1}, opt: options()},
		{name: "no data", figure: "fig3", seeds: []uint64{1}, opt: options()},
		{name: "no bcast", figure: "fig9", sets: reduce, seeds: []uint64{1}, opt: options()},
		{name: "no seed", figure: "fig3", sets: s, opt: options()},
		{name: "options", figure: "fig3", sets: s, seeds: []uint64{1}, opt: bad},
	}
	for _, tc := range tests {
		_, err := lab.Draw(context.Background(), tc.figure, tc.sets, tc.seeds, tc.opt)
		golden(tc.name, err)
	}
}
