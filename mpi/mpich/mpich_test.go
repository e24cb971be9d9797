package mpich

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
	"tutti/selection"
)

func known(t testing.TB) build {
	t.Helper()
	lib := testutil.Must(embeddedTree("4.0.2"))(t)
	return build{lib, release(t, "4.0.2")}
}

// grid returns rows with random times for every algorithm that can run. The numbers of nodes and processes
// of some layouts are not powers of two.
func grid(cat *mpi.Catalogue, c coll.Collective, rng *rand.Rand) []selection.Row {
	sizes := []int64{1, 7, 64, 1000, 4096, 65536, 300000, 1 << 20}
	if !c.Sized() {
		sizes = []int64{0}
	}
	var rows []selection.Row
	for _, nodes := range []int{1, 2, 3, 5, 8, 12} {
		for _, ppn := range []int{1, 3, 4, 8} {
			for _, size := range sizes {
				p := coll.Point{Collective: c, Nodes: nodes, PPN: ppn, MsgBytes: size}
				r := selection.Row{Point: p}
				for _, a := range options(cat, c) {
					if cat.Check(coll.Candidate{Point: p, Algorithm: a}) == nil {
						r.Options = append(r.Options, selection.Option{Algorithm: a, Seconds: 1 + rng.Float64()})
					}
				}
				r.Options = append(r.Options, selection.Option{Algorithm: coll.Default, Seconds: 1.3 + rng.Float64()})
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// options returns the algorithms that tests may select: those that campaigns measure, and all compositions (plans of
// the ch4 device).
func options(cat *mpi.Catalogue, c coll.Collective) []coll.Algorithm {
	all := cat.Algorithms(c)
	for _, e := range cat.Entries(c) {
		if a := (coll.Algorithm{Name: e.Name}); composes(e) && !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all
}

func grids(cat *mpi.Catalogue, seed uint64) []selection.Row {
	rng := rand.New(rand.NewPCG(seed, 0))
	var all []selection.Row
	for _, c := range coll.Collectives() {
		all = append(all, grid(cat, c, rng)...)
	}
	return all
}

// TestExportBetweenGridPoints replays calls at points that were not tuned. Wherever the selected algorithm's
// requirements hold, the file must select this algorithm, too.
func TestExportBetweenGridPoints(t *testing.T) {
	b := known(t)
	sel, x := mpilibrarytest.FitAndExport(t, b, grids(b.cat, 7), mpi.MergeOptions{MaxLoss: 0.2})
	var rows []selection.Row
	rng := rand.New(rand.NewPCG(8, 0))
	for range 5000 {
		tree := sel.Trees[rng.IntN(len(sel.Trees))]
		p := coll.Point{Collective: tree.Collective, Nodes: 1 + rng.IntN(14), PPN: 1 + rng.IntN(10)}
		if p.Collective.Sized() {
			p.MsgBytes = int64(math.Exp2(rng.Float64() * 23))
		}
		alg, _ := tree.Select(p)
		if !alg.IsDefault() && b.cat.Check(coll.Candidate{Point: p, Algorithm: alg}) != nil {
			continue // the guard steps in, see TestGuards
		}
		between := coll.Default
		if inter := selection.TreeOf(sel.Inter, p.Collective); inter != nil {
			between, _ = inter.Lookup(p.Nodes, 1, size(p))
		}
		if e, _ := b.cat.Lookup(p.Collective, alg); !between.IsDefault() || e.Has(mpi.Hierarchical) {
			continue // parts are tuned for their own numbers of nodes, not for these layouts
		}
		rows = append(rows, selection.Row{Point: p})
	}
	if err := b.Replay(x, sel, rows); err != nil {
		t.Error(err)
	}
}

func TestGuards(t *testing.T) {
	b := known(t)
	at := func(c coll.Collective, nodes, ppn int, size int64) signature {
		return signatureAt(coll.Point{Collective: c, Nodes: nodes, PPN: ppn, MsgBytes: size})
	}
	with := func(c signature, change func(*signature)) signature { change(&c); return c }
	userOp := func(c *signature) { c.BuiltinOp = false }
	ordered := func(c *signature) { c.BuiltinOp, c.Commutative = false, false }
	tests := []struct {
		collective coll.Collective
		algorithm  string
		call       signature
		want       string
	}{
		{coll.Allgather, "recursive_doubling", at(coll.Allgather, 8, 1, 8), "MPIR_Allgather_intra_recursive_doubling"},
		{coll.Allgather, "recursive_doubling", at(coll.Allgather, 6, 1, 8), "MPIR_Allgather_intra_brucks"},
		{coll.Allreduce, "reduce_scatter_allgather", at(coll.Allreduce, 8, 1, 32), "MPIR_Allreduce_intra_reduce_scatter_allgather"},
		{coll.Allreduce, "reduce_scatter_allgather", at(coll.Allreduce, 8, 1, 28), "MPIR_Allreduce_intra_recursive_doubling"},
		{coll.Allreduce, "reduce_scatter_allgather", with(at(coll.Allreduce, 8, 1, 32), userOp), "MPIR_Allreduce_intra_recursive_doubling"},
		{coll.Allreduce, "smp", at(coll.Allreduce, 4, 2, 32), "MPIR_Allreduce_intra_smp"},
		{coll.Allreduce, "smp", at(coll.Allreduce, 8, 1, 32), "MPIR_Allreduce_intra_recursive_doubling"},
		{coll.Allreduce, "smp", with(at(coll.Allreduce, 4, 2, 32), ordered), "MPIR_Allreduce_intra_recursive_doubling"},
		{coll.Barrier, "smp", at(coll.Barrier, 8, 1, 0), "MPIR_Barrier_intra_dissemination"},
		{coll.Bcast, "smp", at(coll.Bcast, 4, 2, 8), "MPIR_Bcast_intra_smp"},
		{coll.Bcast, "smp", at(coll.Bcast, 8, 1, 8), "MPIR_Bcast_intra_binomial"},
		{coll.Reduce, "reduce_scatter_gather", with(at(coll.Reduce, 8, 1, 64), ordered), "MPIR_Reduce_intra_binomial"},
		{coll.ReduceScatterBlock, "pairwise", with(at(coll.ReduceScatterBlock, 6, 1, 64), ordered), "MPIR_Reduce_scatter_block_intra_recursive_doubling"},
		{coll.Scan, "smp", at(coll.Scan, 4, 2, 8), "MPIR_Scan_intra_smp"},
		{coll.Scan, "smp", at(coll.Scan, 8, 1, 8), "MPIR_Scan_intra_recursive_doubling"},
		{coll.Alltoall, "brucks", with(at(coll.Alltoall, 8, 1, 8), func(c *signature) { c.InPlace = true }), "MPIR_Alltoall_intra_pairwise_sendrecv_replace"},
	}
	for _, tc := range tests {
		t.Run(fmt.Sprint(tc.collective, " ", tc.algorithm, " ", tc.want), func(t *testing.T) {
			trees, _, err := b.merge(selection.Selection{Trees: []*selection.Tree{always(tc.collective, tc.algorithm)}})
			testutil.NoError(t, err)
			if got, err := reach(trees.flat, tc.call); err != nil || got.Name != tc.want {
				t.Errorf("reach(%+v) = %v, %v, want %s", tc.call, got, err, tc.want)
			}
		})
	}
}

func always(c coll.Collective, text string) *selection.Tree {
	alg, err := coll.ParseAlgorithm(text)
	if err != nil {
		panic(err)
	}
	bands := []selection.Band{{UpTo: math.MaxInt64, Algorithm: alg}}
	ppns := []selection.PPNRange{{Low: 1, High: 1000, Bands: bands}}
	return &selection.Tree{Collective: c, Comms: []selection.CommRange{{Low: 1, High: 1000, PPNs: ppns}}}
}

func TestExportRefuses(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	b := known(t)
	newer := build{b.lib, release(t, "4.1.2")}
	tests := []struct {
		name  string
		build build
		tree  *selection.Tree
	}{
		{"unknown algorithm", b, always(coll.Bcast, "pipeline")},
		{"missing parameter", newer, always(coll.Allreduce, "recexch(single_phase_recv=0)")},
		{"not in this library", newer, always(coll.Allreduce, "recexch(k=4,single_phase_recv=0)")},
		{"in place only", b, always(coll.Alltoall, "pairwise_sendrecv_replace")},
	}
	for _, tc := range tests {
		_, err := tc.build.Export(selection.Selection{Trees: []*selection.Tree{tc.tree}}, "/dir")
		golden(tc.name, err)
	}
	_, err := b.Export(selection.Selection{}, "dir")
	golden("relative path", err)
}

// TestOpen checks that Open without a library file accepts only releases whose selection trees this package
// contains. If a library file is given, it must be of the given release.
func TestOpen(t *testing.T) {
	if _, err := Library.Open(release(t, "5.0.1"), ""); !errors.Is(err, errNoTree) {
		t.Errorf("5.0.1 without a file: %v, want ErrNoTree", err)
	}
	tree := testutil.Must(os.ReadFile("trees/4.0.2.json"))(t)
	texts := []string{"Thu Apr  7 12:34:45 CDT 2022", "4.0.2", strings.TrimSpace(string(tree))}
	path := filepath.Join(t.TempDir(), "libmpich.so")
	testutil.NoError(t, os.WriteFile(path, []byte(strings.Join(texts, "\x00")+"\x00"), 0o666))
	if _, err := Library.Open(release(t, "4.0.2"), path); err != nil {
		t.Error(err)
	}
	want := path + " is MPICH 4.0.2, but the campaign is for 4.1.2"
	if _, err := Library.Open(release(t, "4.1.2"), path); err == nil || err.Error() != want {
		t.Errorf("another release: %v, want %s", err, want)
	}
}

// TestNewerRelease checks that the parameters of an algorithm become keys of its leaf in the tree. This must also
// hold for the algorithm that the tree uses where the selected one cannot run.
func TestNewerRelease(t *testing.T) {
	b := build{known(t).lib, release(t, "4.1.2")}
	b.lib.Leaves = append(b.lib.Leaves, "MPIR_Bcast_intra_tree", "MPIR_Barrier_intra_k_dissemination")
	trees, _, err := b.merge(selection.Selection{Trees: []*selection.Tree{always(coll.Barrier, "smp"), always(coll.Bcast, "tree(is_non_blocking=1,k=3,tree_type=0)")}})
	testutil.NoError(t, err)
	for p, want := range map[coll.Point]string{
		{Collective: coll.Bcast, Nodes: 5, PPN: 1, MsgBytes: 8}: "MPIR_Bcast_intra_tree(is_non_blocking=1,k=3,tree_type=0)",
		{Collective: coll.Barrier, Nodes: 5, PPN: 1}:            "MPIR_Barrier_intra_k_dissemination(k=2)",
		{Collective: coll.Barrier, Nodes: 5, PPN: 2}:            "MPIR_Barrier_intra_smp",
	} {
		if got, err := reach(trees.flat, signatureAt(p)); err != nil || got.String() != want {
			t.Errorf("%v: %v, %v, want %s", p, got, err, want)
		}
	}
}

func TestReplayFindsWrongFiles(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	b := known(t)
	rows := grids(b.cat, 3)
	sel, x := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{MaxLoss: 0.2})
	good := string(x.Loaded(coll.Layout{}, flatFile))
	tests := []struct{ name, old, new string }{
		{"another algorithm", `"algorithm=MPIR_Bcast_intra_binomial"`, `"algorithm=MPIR_Bcast_intra_scatter_ring_allgather"`},
		{"unknown algorithm", "MPIR_Bcast_intra_binomial", "MPIR_Bcast_intra_binomials"},
		{"algorithm of another collective", "MPIR_Bcast_intra_binomial", "MPIR_Reduce_intra_binomial"},
		{"unknown condition", "comm_size<=", "comm_size>="},
		{"collective missing", "collective=alltoallw", "collective=alltoallx"},
		{"broken", "}", ""},
	}
	for _, tc := range tests {
		x.Files[0].Content = []byte(strings.ReplaceAll(good, tc.old, tc.new))
		golden(tc.name, b.Replay(x, sel, rows))
	}
}

func TestGolden(t *testing.T) {
	var rows []selection.Row
	for i, l := range []coll.Layout{{Nodes: 2, PPN: 3}, {Nodes: 3, PPN: 2}, {Nodes: 4, PPN: 2}} {
		for k, size := range []int64{8, 1024, 131072} {
			names := []string{"smp", "scatter_ring_allgather", "binomial", coll.Default.Name}
			r := selection.Row{Point: coll.Point{Collective: coll.Bcast, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: size}}
			for n, name := range names {
				seconds := 1 + float64((n+i+k)%len(names))
				r.Options = append(r.Options, selection.Option{Algorithm: coll.Algorithm{Name: name}, Seconds: seconds})
			}
			rows = append(rows, r)
		}
	}
	b := known(t)
	sel := testutil.Must(b.Merge(rows, 0))(t)
	x := testutil.Must(b.Export(sel, "/home/me/my runs"))(t)
	snippet := testutil.Must(x.Setup.Shell())(t)
	testutil.CheckGolden(t, "bcast.json", x.Loaded(coll.Layout{}, flatFile))
	testutil.CheckGolden(t, "bcast.ch4.json", x.Loaded(coll.Layout{}, deviceFile))
	testutil.CheckGolden(t, "bcast.env", snippet)
}

func TestSize(t *testing.T) {
	tests := []struct {
		collective coll.Collective
		want       int64 // of 4 KiB on 3 nodes x 2
	}{
		{coll.Bcast, 4096}, {coll.Allreduce, 4096}, {coll.Reduce, 4096}, {coll.Alltoall, 4096},
		{coll.Allgather, 6 * 4096}, {coll.Allgatherv, 6 * 4096}, {coll.Alltoallv, 6 * 4096},
		{coll.Gather, 6 * 4096}, {coll.Scatter, 6 * 4096}, {coll.ReduceScatter, 4096},
		{coll.ReduceScatterBlock, 4096}, {coll.Barrier, 0}, {coll.Scan, 0}, {coll.Exscan, 0},
	}
	for _, tc := range tests {
		p := coll.Point{Collective: tc.collective, Nodes: 3, PPN: 2, MsgBytes: 4096}
		if got := size(p); got != tc.want {
			t.Errorf("Size(%v) = %d, want %d", p, got, tc.want)
		}
	}
	if got := size(coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 1 << 40}); got != math.MaxInt32 {
		t.Errorf("size of 1 TiB = %d, want the largest int", got)
	}
}

// TestHugeSizes checks that sizes beyond a C int belong to the last range of message sizes.
func TestHugeSizes(t *testing.T) {
	var rows []selection.Row
	for _, size := range []int64{1 << 10, 1 << 31, 1 << 33} {
		r := selection.Row{Point: coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 1, MsgBytes: size}}
		for i, name := range []string{"binomial", "scatter_ring_allgather"} {
			seconds := []float64{1, 2}
			if size > 1<<10 {
				seconds = []float64{2, 1}
			}
			r.Options = append(r.Options, selection.Option{Algorithm: coll.Algorithm{Name: name}, Seconds: seconds[i]})
		}
		rows = append(rows, r)
	}
	mpilibrarytest.FitAndExport(t, known(t), rows, mpi.MergeOptions{})
}

func FuzzReach(f *testing.F) {
	f.Add(known(f).lib.Tree.Bytes())
	f.Add([]byte(`{"collective=bcast":{"comm_size<4":{"algorithm=x":{"k=2":{}}},"any":{}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		tree, err := parseTree(text)
		if err != nil {
			return
		}
		call := signatureAt(coll.Point{Collective: coll.Bcast, Nodes: 3, PPN: 2, MsgBytes: 8})
		if alg, err := reach(tree, call); err == nil && alg.Name == "" {
			t.Fatalf("reached an algorithm without a name in\n%s", text)
		}
	})
}

func BenchmarkFit(b *testing.B) {
	mpich := known(b)
	rows := grid(mpich.cat, coll.Bcast, rand.New(rand.NewPCG(1, 1)))
	for b.Loop() {
		if _, err := mpich.Merge(rows, 0.01); err != nil {
			b.Fatal(err)
		}
	}
}

// TestReachesInto checks between which communicator sizes an algorithm is selected without a measurement: not for a bcast
// between two powers of two, since the default is another algorithm there.
func TestReachesInto(t *testing.T) {
	for _, tc := range []struct {
		alg  string
		gap  selection.Gap
		want bool
	}{
		{"binomial", selection.Gap{Collective: coll.Bcast, Low: 64, High: 128, PPN: 1}, false},
		{"binomial", selection.Gap{Collective: coll.Ibcast, Low: 64, High: 128, PPN: 16}, false},
		{"binomial", selection.Gap{Collective: coll.Bcast, Low: 48, High: 96, PPN: 12}, false}, // 4 and 8 nodes
		{"binomial", selection.Gap{Collective: coll.Bcast, Low: 96, High: 128, PPN: 16}, true}, // 6 and 8 nodes
		{"ring", selection.Gap{Collective: coll.Allgather, Low: 64, High: 128, PPN: 1}, true},
		{"recursive_doubling", selection.Gap{Collective: coll.Allgather, Low: 96, High: 128, PPN: 1}, false},
	} {
		if got := reachesInto(coll.Algorithm{Name: tc.alg}, tc.gap); got != tc.want {
			t.Errorf("%s %+v: %t, want %t", tc.alg, tc.gap, got, tc.want)
		}
	}
}
