package mpi_test

import (
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/selection"
)

func TestPortable(t *testing.T) {
	_, cat, err := libraries.Release("mpich", "4.0.2")
	testutil.NoError(t, err)
	row := func(times ...any) selection.Row {
		r := selection.Row{Point: coll.Point{Collective: coll.Allgather, Nodes: 6, PPN: 1, MsgBytes: 64}}
		for i := 0; i < len(times); i += 2 {
			alg := testutil.Must(coll.ParseAlgorithm(times[i].(string)))(t)
			r.Options = append(r.Options, selection.Option{Algorithm: alg, Seconds: times[i+1].(float64)})
		}
		return r
	}
	tests := []struct {
		name string
		row  selection.Row
		want string // the options that stay
		left int
	}{
		{"both have it", row("ring", 1.0, "brucks", 2.0, "library_default", 3.0), "ring brucks library_default", 0},
		{"the best is new", row("k_brucks(k=2)", 1.0, "ring", 2.0, "library_default", 3.0), "library_default", 1},
		{"the best is new, another is as good", row("k_brucks(k=2)", 1.0, "ring", 1.04, "library_default", 3.0), "ring library_default", 0},
		{"the default is as good", row("k_brucks(k=2)", 1.0, "ring", 2.0, "library_default", 1.01), "ring library_default", 0},
		{"nothing stays", row("k_brucks(k=2)", 1.0), "", 1},
		{"cannot run there", row("recursive_doubling", 1.0, "library_default", 3.0), "library_default", 1},
		{"no options", row(), "", 0},
	}
	for _, tc := range tests {
		rows, left := cat.Portable([]selection.Row{tc.row}, "4.1.2", 0.05)
		var names []string
		for _, o := range rows[0].Options {
			names = append(names, o.Algorithm.String())
		}
		if got := strings.Join(names, " "); got != tc.want || left != tc.left {
			t.Errorf("%s: %q, %d left, want %q, %d", tc.name, got, left, tc.want, tc.left)
		}
	}
	if rows, left := cat.Portable([]selection.Row{tests[1].row}, "4.0.2", 0.05); left != 0 || len(rows[0].Options) != 3 {
		t.Errorf("the same release: %v, %d left", rows, left)
	}
}

func TestFitSafe(t *testing.T) {
	lib, cat, err := libraries.Release("openmpi", "4.1.4")
	testutil.NoError(t, err)
	r := selection.Row{Point: coll.Point{Collective: coll.Allreduce, Nodes: 4, PPN: 1, MsgBytes: 65536}}
	for i, name := range []string{"smp", "ring", "recursive_doubling", coll.Default.Name} { // smp is not of this library
		r.Options = append(r.Options, selection.Option{Algorithm: coll.Algorithm{Name: name}, Seconds: float64(1 + i)})
	}
	b := testutil.Must(lib.Open(cat, ""))(t)
	for safe, want := range map[bool]string{false: "ring", true: "recursive_doubling"} {
		sel := testutil.Must(mpi.Fit(b, []selection.Row{r}, mpi.FitOptions{OpSafe: safe}))(t)
		if got, _ := sel.Select(r.Point); got.Name != want || len(r.Options) != 4 {
			t.Errorf("OpSafe %t selects %v, want %s, and the row as it was", safe, got, want)
		}
	}
}
