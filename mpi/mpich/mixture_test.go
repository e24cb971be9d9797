package mpich

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/test/mpitest"
	"tutti/mpi"
	"tutti/mpi/mpich/csel"
	"tutti/selection"
)

// times are predictions of one point, in seconds by algorithm.
type times map[string]float64

func row(t testing.TB, p coll.Point, list times) selection.Row {
	t.Helper()
	r := selection.Row{Point: p}
	for name, seconds := range list {
		a, err := coll.ParseAlgorithm(name)
		if err != nil {
			t.Fatal(err)
		}
		r.Options = append(r.Options, selection.Option{Algorithm: a, Seconds: seconds})
	}
	slices.SortFunc(r.Options, func(a, b selection.Option) int { return coll.CompareAlgorithms(a.Algorithm, b.Algorithm) })
	return r
}

// TestProjection: points with as many nodes share the algorithm between them.
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
	lib, cat := embedded(t)
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var rows []selection.Row
			for _, p := range tc.points {
				rows = append(rows, row(t, coll.Point{Collective: coll.Bcast, Nodes: p.nodes, PPN: p.ppn, MsgBytes: 1024}, p.list))
			}
			plan, err := Fit(rows, lib, cat, selection.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range tc.points {
				if got, _ := plan.Select(rows[i].Point); got.String() != p.want {
					t.Errorf("%v: %v, want %s", rows[i].Point, got, p.want)
				}
			}
			file, err := Export([]Plan{plan}, lib, cat)
			if err != nil {
				t.Fatal(err)
			}
			if err := Verify(file.Bytes(), file.DeviceBytes(), []Plan{plan}, rows, lib, cat); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNeverSlowerThanTheDefault: whatever is given up, no point gets an option
// that is predicted to be slower than its default, and merging costs no more than
// allowed against the best of what the files can say.
func TestNeverSlowerThanTheDefault(t *testing.T) {
	_, cat := embedded(t)
	compositions, altered := 0, 0
	for seed := range uint64(4) {
		plans, rows := fitAll(t, cat, seed, 0.1)
		for _, r := range rows {
			i := slices.IndexFunc(plans, func(p Plan) bool { return p.Collective == r.Point.Collective })
			alg, _ := plans[i].Select(r.Point)
			own, ok := r.Loss(coll.Default)
			loss, has := r.Loss(alg)
			if !ok || !has || loss > own {
				t.Fatalf("%v: %v loses %g, the default %g", r.Point, alg, loss, own)
			}
			if e, err := cat.Lookup(r.Point.Collective, alg); err == nil && e.Has(mpi.Hierarchical) {
				compositions++
			}
			if inter, _ := plans[i].Inter.Lookup(r.Point.Nodes, 1, Size(r.Point)); !inter.IsDefault() && r.Point.PPN > 1 {
				altered++
			}
		}
	}
	if compositions < 50 || altered < 50 {
		t.Errorf("%d compositions selected, %d points with another algorithm between nodes: want many of both", compositions, altered)
	}
}

// TestPartsStay: what is tuned for communicators of programs does not reach the
// communicators of parts.
func TestPartsStay(t *testing.T) {
	lib, cat := embedded(t)
	var plans []Plan
	for c, name := range map[coll.Collective]string{
		coll.Bcast: "scatter_ring_allgather", coll.Reduce: "binomial", coll.Allreduce: "recursive_doubling", coll.Scan: "recursive_doubling",
	} {
		plans = append(plans, always(c, coll.Algorithm{Name: name}))
	}
	file, err := Export(plans, lib, cat)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plans {
		for _, n := range []int{2, 5, 8, 64} {
			for _, where := range []Hierarchy{Node, NodeRoots} {
				call := CallAt(coll.Point{Collective: p.Collective, Nodes: n, PPN: 1, MsgBytes: 65536})
				call.Hierarchy = where
				got, err := Replay(file.Bytes(), call)
				want, werr := Replay(lib.Tree.Bytes(), call)
				if err != nil || werr != nil || got != want {
					t.Errorf("%s on %d of %s: %v, %v, want %v", p.Collective, n, where, got, err, want)
				}
			}
		}
	}
}

// TestWithoutDevice: a library without a device's tree, or a release whose
// compositions are not known, has its device told to leave tuned collectives
// alone, and gets no composition.
func TestWithoutDevice(t *testing.T) {
	lib, cat := embedded(t)
	newest := release(t, "5.0.1")
	bare := lib
	bare.Device, bare.Compositions = nil, nil
	p := coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 2, MsgBytes: 1024}
	rows := []selection.Row{row(t, p, times{"library_default": 3, "alpha(inter=binomial)": 1, "scatter_ring_allgather": 2})}
	for name, tc := range map[string]struct {
		lib csel.Library
		cat *mpi.Catalogue
	}{"no device": {bare, cat}, "5.0": {lib, newest}} {
		if tc.cat == newest { // has no composition to be refused
			rows = []selection.Row{row(t, p, times{"library_default": 3, "scatter_ring_allgather": 2})}
		}
		plan, err := Fit(rows, tc.lib, tc.cat, selection.Options{})
		if err != nil {
			t.Fatal(err)
		}
		file, err := Export([]Plan{plan}, tc.lib, tc.cat)
		if err != nil {
			t.Fatal(err)
		}
		if err := Verify(file.Bytes(), file.DeviceBytes(), []Plan{plan}, rows, tc.lib, tc.cat); err != nil {
			t.Error(name, err)
		}
		if alg, _ := plan.Select(p); alg.Name != "scatter_ring_allgather" {
			t.Errorf("%s: %v selected, want the flat one", name, alg)
		}
		env, err := file.Env("/x")
		if err != nil {
			t.Fatal(err)
		}
		want := "[{MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE /x/mpich.json} {MPIR_CVAR_BCAST_DEVICE_COLLECTIVE 0}]"
		if got := fmt.Sprint(env); got != want || file.DeviceBytes() != nil {
			t.Errorf("%s: settings %s, want %s and no file for the device", name, got, want)
		}
	}
}

// mixture makes rows whose best option is the default, an algorithm and a composition in turn.
func mixture(t *testing.T, cat *mpi.Catalogue, layouts []coll.Layout) [][]selection.Row {
	t.Helper()
	sizes := map[coll.Collective][]int64{
		coll.Bcast: {256, 16384}, coll.Allreduce: {256, 16384}, coll.Reduce: {4096}, coll.Barrier: {0}, coll.Scan: {4096},
	}
	var out [][]selection.Row
	turn := 0
	for _, c := range coll.Collectives() {
		var rows []selection.Row
		for _, l := range layouts {
			for _, size := range sizes[c] {
				p := coll.Point{Collective: c, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: size}
				r := selection.Row{Point: p, Options: []selection.Option{{Algorithm: coll.Default, Seconds: 4}}}
				for n, a := range cat.Algorithms(c) {
					if cat.Check(coll.Candidate{Point: p, Algorithm: a}) != nil || turn%3 == 0 {
						continue
					}
					e, err := cat.Lookup(c, a)
					if err != nil {
						t.Fatal(err)
					}
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
		if rows != nil {
			out = append(out, rows)
		}
	}
	return out
}

// TestLiveMixture: on simulated nodes every point enters what the files say, and
// points left to the library enter what it enters without any file, on all ranks.
func TestLiveMixture(t *testing.T) {
	lib, cat := embedded(t)
	functions := slices.DeleteFunc(slices.Clone(lib.Leaves), func(name string) bool {
		return strings.HasPrefix(name, "MPIR_I") || strings.HasPrefix(name, "MPIR_Neighbor") || strings.Contains(name, "_inter_")
	})
	prog := mpitest.BuildTraced(t, functions)
	problems := mixture(t, cat, []coll.Layout{{Nodes: 1, PPN: 8}, {Nodes: 2, PPN: 4}, {Nodes: 4, PPN: 2}})
	var plans []Plan
	for _, rows := range problems {
		plan, err := Fit(rows, lib, cat, selection.Options{})
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, plan)
	}
	file, err := Export(plans, lib, cat)
	if err != nil {
		t.Fatal(err)
	}
	env := sourced(t, file)
	kinds := map[string]int{}
	for i, rows := range problems {
		if err := Verify(file.Bytes(), file.DeviceBytes(), plans, rows, lib, cat); err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			alg, _ := plans[i].Select(r.Point)
			out := trace(t, prog, env, r.Point)
			want, err := Entered(file.Bytes(), file.DeviceBytes(), CallAt(r.Point), lib, cat)
			if err != nil {
				t.Fatal(err)
			}
			if got := entered(out, 0); !slices.Equal(got, want) {
				t.Errorf("%v %v: rank 0 entered %v, want %v", r.Point, alg, got, want)
			}
			if !strings.Contains(out, "right "+string(r.Point.Collective)) {
				t.Errorf("%v %v: not right:\n%s", r.Point, alg, out)
			}
			e, _ := cat.Lookup(r.Point.Collective, alg)
			switch {
			case alg.IsDefault():
				kinds["default"]++
				shipped := trace(t, prog, nil, r.Point)
				for rank := range r.Point.Processes() {
					if got, want := mpitest.Ran(out, rank), mpitest.Ran(shipped, rank); !slices.Equal(got, want) {
						t.Errorf("%v: rank %d entered %v, without files %v", r.Point, rank, got, want)
					}
				}
			case composes(e):
				kinds["composition"]++
			default:
				kinds["flat"]++
			}
		}
	}
	t.Log(kinds)
	for _, kind := range []string{"default", "composition", "flat"} {
		if kinds[kind] < 3 {
			t.Errorf("%d points with %s: want some of each", kinds[kind], kind)
		}
	}
}

func trace(t *testing.T, prog string, env []string, p coll.Point) string {
	t.Helper()
	return launch(t, append(slices.Clone(env), "MPIR_CVAR_CLIQUES_BY_BLOCK=1"), p.Layout(), prog,
		"call", string(p.Collective), fmt.Sprint(max(p.MsgBytes, 4)))
}

// entered returns the different functions that a rank entered, alphabetical.
func entered(out string, rank int) []string {
	names := mpitest.Ran(out, rank)
	slices.Sort(names)
	return slices.Compact(names)
}
