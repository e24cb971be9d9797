package mpich

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
	"tutti/selection"
)

type times map[string]float64

func row(t testing.TB, p coll.Point, list times) selection.Row {
	t.Helper()
	r := selection.Row{Point: p}
	for name, seconds := range list {
		a := testutil.Must(coll.ParseAlgorithm(name))(t)
		r.Options = append(r.Options, selection.Option{Algorithm: a, Seconds: seconds})
	}
	slices.SortFunc(r.Options, func(a, b selection.Option) int { return coll.CompareAlgorithms(a.Algorithm, b.Algorithm) })
	return r
}

// TestProjection checks that points with the same number of nodes and different numbers of processes per node
// get the same algorithm between nodes.
func TestProjection(t *testing.T) {
	const (
		def   = "library_default" // alpha, binomial between the nodes
		ring  = "alpha(inter=scatter_ring_allgather)"
		tree  = "alpha(inter=binomial)"
		flat  = "scatter_ring_allgather"
		node  = "alpha(inter=binomial,node=scatter_ring_allgather)"
		alpha = "alpha"
	)
	type point struct {
		nodes, ppn int
		list       times
		want       string
	}
	tests := []struct {
		name   string
		points []point
	}{
		{"both want it", []point{
			{4, 2, times{def: 3, ring: 1, flat: 2}, ring}, {4, 4, times{def: 3, ring: 1, flat: 2}, ring}}},
		{"the other has nothing but its default", []point{
			{4, 2, times{def: 3, ring: 1, flat: 2}, flat}, {4, 4, times{def: 3, ring: 4}, def}}},
		{"the other does without its default", []point{
			{4, 2, times{def: 3, ring: 1, flat: 2}, ring}, {4, 4, times{def: 3, ring: 4, flat: 2.9}, flat}}},
		{"another number of nodes", []point{
			{4, 2, times{def: 3, ring: 1}, ring}, {8, 2, times{def: 1, ring: 3}, def}}},
		{"the least sum", []point{
			{4, 2, times{def: 2, ring: 1}, def}, {4, 4, times{def: 2, ring: 1.9, flat: 3}, def}, {4, 8, times{def: 1, ring: 1.9, flat: 3}, def}}},
		{"the library's own by its name", []point{
			{4, 2, times{def: 3, tree: 1}, tree}, {4, 4, times{def: 1, tree: 3}, def}}},
		{"own parts and chosen ones", []point{
			{4, 2, times{def: 3, alpha: 1}, alpha}, {4, 4, times{def: 2, ring: 1.5}, def}}},
		{"a part within nodes is nobody's own", []point{
			{4, 2, times{def: 3, node: 1, flat: 2}, flat}}},
		{"flat points are free", []point{
			{4, 1, times{def: 1, flat: 2}, def}, {4, 2, times{def: 3, ring: 1}, ring}, {1, 4, times{def: 1, flat: 2}, def}}},
		{"no prediction at one of them", []point{
			{4, 2, times{def: 3, ring: 1}, def}, {4, 4, times{}, def}}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var rows []selection.Row
			for _, p := range tc.points {
				rows = append(rows, row(t, coll.Point{Collective: coll.Bcast, Nodes: p.nodes, PPN: p.ppn, MsgBytes: 1024}, p.list))
			}
			sel, _ := mpilibrarytest.FitAndExport(t, known(t), rows, mpi.MergeOptions{})
			for i, p := range tc.points {
				if got, _ := sel.Select(rows[i].Point); got.String() != p.want {
					t.Errorf("%v: %v, want %s", rows[i].Point, got, p.want)
				}
			}
		})
	}
}

// TestCompositionsAreSelected fits random times. Merge must select compositions (plans of the ch4 device), and
// algorithms between nodes that are not the library's own.
func TestCompositionsAreSelected(t *testing.T) {
	b := known(t)
	compositions, altered := 0, 0
	for seed := range uint64(4) {
		rows := grids(b.cat, seed)
		sel, _ := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{MaxLoss: 0.1})
		for _, r := range rows {
			alg, _ := sel.Select(r.Point)
			if e, err := b.cat.Lookup(r.Point.Collective, alg); err == nil && e.Has(mpi.Hierarchical) {
				compositions++
			}
			if tree := selection.TreeOf(sel.Inter, r.Point.Collective); tree != nil && r.Point.PPN > 1 {
				if between, _ := tree.Lookup(r.Point.Nodes, 1, size(r.Point)); !between.IsDefault() {
					altered++
				}
			}
		}
	}
	if compositions < 50 || altered < 50 {
		t.Errorf("%d compositions selected, %d points with another algorithm between nodes: want many of both", compositions, altered)
	}
}

// TestPartsStay checks that rules tuned for a program's communicators do not change the parts of a
// composition (plan of the ch4 device). The parts have communicators of their own.
func TestPartsStay(t *testing.T) {
	b := known(t)
	var sel selection.Selection
	for _, c := range []coll.Collective{coll.Allreduce, coll.Bcast, coll.Reduce, coll.Scan} {
		name := map[coll.Collective]string{coll.Bcast: "scatter_ring_allgather", coll.Reduce: "binomial"}[c]
		sel.Trees = append(sel.Trees, always(c, cmp.Or(name, "recursive_doubling")))
	}
	trees, _, err := b.merge(sel)
	testutil.NoError(t, err)
	for _, tree := range sel.Trees {
		for _, n := range []int{2, 5, 8, 64} {
			for _, where := range []hierarchy{nodeKind, rootsKind} {
				call := signatureAt(coll.Point{Collective: tree.Collective, Nodes: n, PPN: 1, MsgBytes: 65536})
				call.Hierarchy = where
				got, err := reach(trees.flat, call)
				want, werr := reach(b.lib.Tree, call)
				if err != nil || werr != nil || got != want {
					t.Errorf("%s on %d of %s: %v, %v, want %v", tree.Collective, n, where, got, err, want)
				}
			}
		}
	}
}

// TestWithoutDevice checks a library without a device tree. Compositions (plans of the ch4 device) must be
// off for tuned collectives, and none may be selected.
func TestWithoutDevice(t *testing.T) {
	b := known(t)
	b.lib.Device, b.lib.Compositions = nil, nil
	b = newBuild(b.lib, b.cat)
	p := coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 2, MsgBytes: 1024}
	composed := row(t, p, times{"library_default": 3, "alpha(inter=binomial)": 1, "scatter_ring_allgather": 2})
	sel, x := mpilibrarytest.FitAndExport(t, b, []selection.Row{composed}, mpi.MergeOptions{})
	if alg, _ := sel.Select(p); alg.Name != "scatter_ring_allgather" {
		t.Errorf("%v selected, want the flat one", alg)
	}
	want := []mpi.Setting{
		{Name: "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", Value: mpilibrarytest.Dir + "/mpich.json"},
		{Name: "MPIR_CVAR_BCAST_INTRA_ALGORITHM", Value: "auto"},
		{Name: "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE", Value: "0"},
		{Name: "MPIR_CVAR_DEVICE_COLLECTIVES", Value: "percoll"},
	}
	if !slices.Equal(x.Setup.Settings, want) || x.Loaded(coll.Layout{}, deviceFile) != nil {
		t.Errorf("settings %v, want %v and no file for the device", x.Setup.Settings, want)
	}
}

// mixture returns rows of three kinds: the default, an algorithm, or a composition (plan of the ch4 device) is the
// fastest.
func mixture(t *testing.T, cat *mpi.Catalogue, layouts []coll.Layout) []selection.Row {
	t.Helper()
	sizes := map[coll.Collective][]int64{
		coll.Bcast: {256, 16384}, coll.Allreduce: {256, 16384}, coll.Reduce: {4096}, coll.Barrier: {0}, coll.Scan: {4096},
	}
	var rows []selection.Row
	turn := 0
	for _, c := range coll.Collectives() {
		for _, l := range layouts {
			for _, size := range sizes[c] {
				p := coll.Point{Collective: c, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: size}
				r := selection.Row{Point: p, Options: []selection.Option{{Algorithm: coll.Default, Seconds: 4}}}
				for n, a := range cat.Algorithms(c) {
					if cat.Check(coll.Candidate{Point: p, Algorithm: a}) != nil || turn%3 == 0 {
						continue
					}
					e := testutil.Must(cat.Lookup(c, a))(t)
					seconds := 2 + float64((n+turn)%5)/10
					if composes(e) == (turn%3 == 1) {
						seconds--
					}
					r.Options = append(r.Options, selection.Option{Algorithm: a, Seconds: seconds})
				}
				rows = append(rows, r)
				turn++
			}
		}
	}
	return rows
}

// TestLiveMixture checks on simulated nodes that every rank enters the functions of the selected algorithms.
// Where the selection is the library's default, each rank must enter the same functions as without files.
func TestLiveMixture(t *testing.T) {
	testutil.NeedAllCases(t)
	b := known(t)
	prog := buildTraced(t, functions(t))
	rows := mixture(t, b.cat, []coll.Layout{{Nodes: 1, PPN: 4}, {Nodes: 2, PPN: 2}, {Nodes: 2, PPN: 3}})
	sel, x := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{})
	env := mpilibrarytest.Sourced(t, b, sel)
	kinds := map[string]int{}
	for _, r := range rows {
		alg, _ := sel.Select(r.Point)
		out := trace(t, prog, env, r.Point)
		want := toEnter(t, b, x, r.Point)
		if got := entered(out, 0); !slices.Equal(got, want) {
			t.Errorf("%v %v: rank 0 entered %v, want %v", r.Point, alg, got, want)
		}
		if !testutil.AllRight(out) {
			t.Errorf("%v %v: not right:\n%s", r.Point, alg, out)
		}
		e, _ := b.cat.Lookup(r.Point.Collective, alg)
		switch {
		case alg.IsDefault():
			kinds["default"]++
			shipped := trace(t, prog, nil, r.Point)
			for rank := range r.Point.Ranks() {
				if got, want := enteredFunctions(out, rank), enteredFunctions(shipped, rank); !slices.Equal(got, want) {
					t.Errorf("%v: rank %d entered %v, without files %v", r.Point, rank, got, want)
				}
			}
		case composes(e):
			kinds["composition"]++
		default:
			kinds["flat"]++
		}
	}
	t.Log(kinds)
	for _, kind := range []string{"default", "composition", "flat"} {
		if kinds[kind] < 3 {
			t.Errorf("%d points with %s: want 3 or more of each", kinds[kind], kind)
		}
	}
}

// toEnter returns the functions that the first rank of a node should enter with the exported files, without
// duplicates, in alphabetical order.
func toEnter(t *testing.T, b build, x mpi.Export, p coll.Point) []string {
	t.Helper()
	f := files{device: b.lib.Device}
	f.flat = testutil.Must(parseTree(x.Loaded(coll.Layout{}, flatFile)))(t)
	if text := x.Loaded(coll.Layout{}, deviceFile); text != nil {
		f.device = testutil.Must(parseTree(text))(t)
	}
	r := testutil.Must(b.route(f, signatureAt(p)))(t)
	var names []string
	if r.flat.Name != "" {
		names = append(names, r.flat.Name)
	}
	for _, p := range r.parts {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func trace(t *testing.T, prog string, env []string, p coll.Point) string {
	t.Helper()
	return launch(t, append(slices.Clone(env), "MPIR_CVAR_CLIQUES_BY_BLOCK=1"), p.Layout(), prog,
		"call", fmt.Sprint(max(p.MsgBytes, 4)), string(p.Collective))
}

// entered returns the functions that a rank entered, without duplicates, in alphabetical order.
func entered(out string, rank int) []string {
	names := enteredFunctions(out, rank)
	slices.Sort(names)
	return slices.Compact(names)
}
