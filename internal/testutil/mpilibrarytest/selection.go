package mpilibrarytest

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
	"tutti/selection"
)

// Layouts returns layouts for tests. Several of them have the same number of processes, and some of these
// numbers are not powers of two.
func Layouts() []coll.Layout {
	return []coll.Layout{
		{Nodes: 1, PPN: 2}, {Nodes: 3, PPN: 1}, {Nodes: 5, PPN: 1}, {Nodes: 2, PPN: 3}, {Nodes: 3, PPN: 2},
		{Nodes: 1, PPN: 8}, {Nodes: 2, PPN: 4}, {Nodes: 8, PPN: 1},
	}
}

// Rows returns random rows for all collectives of a release. Several layouts have the same number of processes
// and different best algorithms. Times are uniform between 1 and 2 seconds. Times of the default are uniform
// between 1.3 and 2.3 seconds, plus `delay` seconds.
func Rows(cat *mpi.Catalogue, seed uint64, delay float64) []selection.Row {
	rows := RandomRows(cat, Layouts(), Sizes, rand.New(rand.NewPCG(seed, 0)))
	for _, r := range rows {
		r.Options[len(r.Options)-1].Seconds += delay // the default is the last
	}
	return rows
}

// Sizes are the message sizes for which Rows returns rows.
var Sizes = []int64{1, 64, 1000, 65536, 300000}

// RandomRows returns the rows of all collectives for the given layouts and message sizes.
func RandomRows(cat *mpi.Catalogue, layouts []coll.Layout, sizes []int64, rng *rand.Rand) []selection.Row {
	var out []selection.Row
	for _, c := range coll.Collectives() {
		each := sizes
		if !c.Sized() {
			each = []int64{0}
		}
		for _, l := range layouts {
			for _, size := range each {
				out = append(out, randomRow(cat, coll.Point{Collective: c, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: size}, rng))
			}
		}
	}
	return out
}

// randomRow returns a row with random times for every algorithm that can run at a point. The default is the
// last algorithm and one of the slower ones.
func randomRow(cat *mpi.Catalogue, p coll.Point, rng *rand.Rand) selection.Row {
	r := selection.Row{Point: p}
	for _, a := range cat.Algorithms(p.Collective) {
		if cat.Check(coll.Candidate{Point: p, Algorithm: a}) == nil {
			r.Options = append(r.Options, selection.Option{Algorithm: a, Seconds: 1 + rng.Float64()})
		}
	}
	r.Options = append(r.Options, selection.Option{Algorithm: coll.Default, Seconds: 1.3 + rng.Float64()})
	return r
}

// Turn returns rows for messages of the given sizes, in which algorithm number `turn` is the fastest. It counts
// only algorithms that can run on the layout, and omits collectives that have too few of them. The result
// `collectives` names the collectives that have rows.
func Turn(cat *mpi.Catalogue, l coll.Layout, turn int, sizes ...int64) (rows []selection.Row, collectives []string) {
	for _, c := range coll.Collectives() {
		p := coll.Point{Collective: c, Nodes: l.Nodes, PPN: l.PPN}
		each := []int64{0}
		if c.Sized() {
			p.MsgBytes, each = sizes[0], sizes
		}
		list := slices.DeleteFunc(cat.Algorithms(c), func(a coll.Algorithm) bool {
			return cat.Check(coll.Candidate{Point: p, Algorithm: a}) != nil
		})
		if turn >= len(list) {
			continue
		}
		collectives = append(collectives, string(c))
		for _, p.MsgBytes = range each {
			rows = append(rows, selection.Row{Point: p, Options: []selection.Option{{Algorithm: list[turn], Seconds: 1}, {Algorithm: coll.Default, Seconds: 2}}})
		}
	}
	return rows, collectives
}

// Dir is the folder to which the settings from FitAndExport refer. Its name has characters that shells
// treat specially.
const Dir = "/a b's folder"

// FitAndExport fits a selection to rows and exports it. It checks that the exported files select the same
// algorithms as the selection.
func FitAndExport(t testing.TB, b mpi.Build, rows []selection.Row, opt mpi.MergeOptions) (selection.Selection, mpi.Export) {
	t.Helper()
	sel := testutil.Must(mpi.Merge(b, rows, opt))(t)
	x := testutil.Must(b.Export(sel, Dir))(t)
	testutil.NoError(t, b.Replay(x, sel, rows))
	return sel, x
}

// Sourced writes the files of a selection into a new folder. It sources the written shell snippet outside of
// any job, and returns the variables that the snippet sets, as NAME=VALUE.
func Sourced(t testing.TB, b mpi.Build, sel selection.Selection) []string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), filepath.Base(Dir))
	testutil.NoError(t, os.Mkdir(dir, 0o755))
	x := testutil.Must(b.Export(sel, dir))(t)
	testutil.NoError(t, x.Write(dir))
	return Source(t, filepath.Join(dir, x.Snippet))
}

// Source runs a snippet in a shell that has only the given variables. It returns the variables that the snippet
// sets.
func Source(t testing.TB, path string, env ...string) []string {
	t.Helper()
	cmd := exec.Command("sh", "-euc", `. "$1"; exec /usr/bin/env -0`, "sh", path)
	cmd.Env = append([]string{}, env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	own := []string{"PWD", "OLDPWD", "SHLVL", "_"} // of shells
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		own = append(own, name)
	}
	var set []string
	for _, v := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if name, _, _ := strings.Cut(v, "="); !slices.Contains(own, name) {
			set = append(set, v)
		}
	}
	return set
}
