package mpich

import (
	"bytes"
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
	"tutti/internal/test/golden"
	"tutti/mpi"
	"tutti/mpi/mpich/csel"
	"tutti/selection"
)

func embedded(t testing.TB) (csel.Library, *mpi.Catalogue) {
	t.Helper()
	lib, err := csel.Embedded("4.0.2")
	if err != nil {
		t.Fatal(err)
	}
	return lib, release(t, "4.0.2")
}

// grid makes rows with random times for every algorithm that can run, on layouts
// with non-powers of two.
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

// options are all compositions, and the algorithms without parameters.
func options(cat *mpi.Catalogue, c coll.Collective) []coll.Algorithm {
	all := cat.Algorithms(c)
	for _, e := range cat.Entries(c) {
		if a := (coll.Algorithm{Name: e.Name}); composes(e) && !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all
}

func fitAll(t testing.TB, cat *mpi.Catalogue, seed uint64, maxLoss float64) ([]Plan, []selection.Row) {
	t.Helper()
	lib, _ := embedded(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	var plans []Plan
	var all []selection.Row
	for _, c := range coll.Collectives() {
		rows := grid(cat, c, rng)
		plan, err := Fit(rows, lib, cat, selection.Options{MaxLoss: maxLoss})
		if err != nil {
			t.Fatal(err)
		}
		plans, all = append(plans, plan), append(all, rows...)
	}
	return plans, all
}

func TestExportIsObeyed(t *testing.T) {
	lib, cat := embedded(t)
	for seed := range uint64(5) {
		plans, rows := fitAll(t, cat, seed, 0.2)
		file, err := Export(plans, lib, cat)
		if err != nil {
			t.Fatal(err)
		}
		if err := Verify(file.Bytes(), file.DeviceBytes(), plans, rows, lib, cat); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		again, err := Export(plans, lib, cat)
		if err != nil || !bytes.Equal(file.Bytes(), again.Bytes()) {
			t.Errorf("seed %d: two exports differ, or %v", seed, err)
		}
	}
}

// TestExportBetweenGridPoints replays calls at points that were not tuned: the
// file must say what the tree says, guarded.
func TestExportBetweenGridPoints(t *testing.T) {
	lib, cat := embedded(t)
	plans, _ := fitAll(t, cat, 7, 0.2)
	file, err := Export(plans, lib, cat)
	if err != nil {
		t.Fatal(err)
	}
	var rows []selection.Row
	rng := rand.New(rand.NewPCG(8, 0))
	for range 5000 {
		tree := plans[rng.IntN(len(plans))]
		p := coll.Point{Collective: tree.Collective, Nodes: 1 + rng.IntN(14), PPN: 1 + rng.IntN(10)}
		if p.Collective.Sized() {
			p.MsgBytes = int64(math.Exp2(rng.Float64() * 23))
		}
		alg, _ := tree.Select(p)
		if !alg.IsDefault() && cat.Check(coll.Candidate{Point: p, Algorithm: alg}) != nil {
			continue // the guard steps in, see TestGuards
		}
		inter, _ := tree.Inter.Lookup(p.Nodes, 1, Size(p))
		if e, _ := cat.Lookup(p.Collective, alg); !inter.IsDefault() || e.Has(mpi.Hierarchical) {
			continue // parts are tuned for their own numbers of nodes, not for these layouts
		}
		rows = append(rows, selection.Row{Point: p})
	}
	if err := Verify(file.Bytes(), file.DeviceBytes(), plans, rows, lib, cat); err != nil {
		t.Error(err)
	}
}

func TestGuards(t *testing.T) {
	lib, cat := embedded(t)
	at := func(c coll.Collective, nodes, ppn int, size int64) Call {
		return CallAt(coll.Point{Collective: c, Nodes: nodes, PPN: ppn, MsgBytes: size})
	}
	with := func(c Call, change func(*Call)) Call { change(&c); return c }
	userOp := func(c *Call) { c.BuiltinOp = false }
	ordered := func(c *Call) { c.BuiltinOp, c.Commutative = false, false }
	uneven := func(c *Call) { c.BlockRegular = false }
	tests := []struct {
		collective coll.Collective
		algorithm  string
		call       Call
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
		{coll.ReduceScatter, "noncommutative", at(coll.ReduceScatter, 8, 1, 64), "MPIR_Reduce_scatter_intra_noncommutative"},
		{coll.ReduceScatter, "noncommutative", with(at(coll.ReduceScatter, 8, 1, 64), uneven), "MPIR_Reduce_scatter_intra_recursive_doubling"},
		{coll.ReduceScatter, "noncommutative", at(coll.ReduceScatter, 6, 1, 64), "MPIR_Reduce_scatter_intra_recursive_doubling"},
		{coll.ReduceScatterBlock, "pairwise", with(at(coll.ReduceScatterBlock, 6, 1, 64), ordered), "MPIR_Reduce_scatter_block_intra_recursive_doubling"},
		{coll.Scan, "smp", at(coll.Scan, 4, 2, 8), "MPIR_Scan_intra_smp"},
		{coll.Scan, "smp", at(coll.Scan, 8, 1, 8), "MPIR_Scan_intra_recursive_doubling"},
		{coll.Alltoall, "brucks", with(at(coll.Alltoall, 8, 1, 8), func(c *Call) { c.InPlace = true }), "MPIR_Alltoall_intra_pairwise_sendrecv_replace"},
	}
	for _, tc := range tests {
		t.Run(fmt.Sprint(tc.collective, " ", tc.algorithm, " ", tc.want), func(t *testing.T) {
			plan := always(tc.collective, coll.Algorithm{Name: tc.algorithm})
			file, err := Export([]Plan{plan}, lib, cat)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := Replay(file.Bytes(), tc.call); err != nil || got.Name != tc.want {
				t.Errorf("Replay(%+v) = %v, %v, want %s", tc.call, got, err, tc.want)
			}
		})
	}
}

// always is a tree with one algorithm for everything.
func always(c coll.Collective, alg coll.Algorithm) Plan {
	bands := []selection.Band{{UpTo: math.MaxInt64, Algorithm: alg}}
	ppns := []selection.PPNRange{{Low: 1, High: 1000, Bands: bands}}
	tree := &selection.Tree{Collective: c, Comms: []selection.CommRange{{Low: 1, High: 1000, PPNs: ppns}}}
	return Plan{Tree: tree, Inter: &selection.Tree{Collective: c}}
}

func TestExportRefuses(t *testing.T) {
	lib, cat := embedded(t)
	newer := release(t, "4.1.2")
	withK, err := coll.ParseAlgorithm("k_brucks(k=4)")
	if err != nil {
		t.Fatal(err)
	}
	binomial := always(coll.Bcast, coll.Algorithm{Name: "binomial"})
	tests := []struct {
		name  string
		trees []Plan
		cat   *mpi.Catalogue
		want  string
	}{
		{"unknown algorithm", []Plan{always(coll.Bcast, coll.Algorithm{Name: "pipeline"})}, cat, "not in the catalogue"},
		{"missing parameter", []Plan{always(coll.Allgather, coll.Algorithm{Name: "k_brucks"})}, newer, "parameter k is missing"},
		{"not in this library", []Plan{always(coll.Allgather, withK)}, newer, "has no algorithm MPIR_Allgather_intra_k_brucks"},
		{"in place only", []Plan{always(coll.Alltoall, coll.Algorithm{Name: "pairwise_sendrecv_replace"})}, cat, "inplace"},
		{"two plans", []Plan{binomial, binomial}, cat, "two plans"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Export(tc.trees, lib, tc.cat)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want one with %q", err, tc.want)
			}
		})
	}
}

// TestNewerRelease: parameters become keys of the leaf, and the fallback of a
// barrier has one of its own.
func TestNewerRelease(t *testing.T) {
	lib, _ := embedded(t)
	cat := release(t, "4.1.2")
	lib.Leaves = append(lib.Leaves, "MPIR_Bcast_intra_tree", "MPIR_Barrier_intra_k_dissemination")
	tree, err := coll.ParseAlgorithm("tree(is_non_blocking=1,k=3,tree_type=0)")
	if err != nil {
		t.Fatal(err)
	}
	file, err := Export([]Plan{always(coll.Bcast, tree), always(coll.Barrier, coll.Algorithm{Name: "smp"})}, lib, cat)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[coll.Point]string{
		{Collective: coll.Bcast, Nodes: 5, PPN: 1, MsgBytes: 8}: "MPIR_Bcast_intra_tree(is_non_blocking=1,k=3,tree_type=0)",
		{Collective: coll.Barrier, Nodes: 5, PPN: 1}:            "MPIR_Barrier_intra_k_dissemination(k=2)",
		{Collective: coll.Barrier, Nodes: 5, PPN: 2}:            "MPIR_Barrier_intra_smp",
	} {
		if got, err := Replay(file.Bytes(), CallAt(p)); err != nil || got.String() != want {
			t.Errorf("%v: %v, %v, want %s", p, got, err, want)
		}
	}
}

func TestVerifyFindsWrongFiles(t *testing.T) {
	lib, cat := embedded(t)
	plans, rows := fitAll(t, cat, 3, 0.2)
	file, err := Export(plans, lib, cat)
	if err != nil {
		t.Fatal(err)
	}
	good := string(file.Bytes())
	tests := []struct{ name, old, new, want string }{
		{"another algorithm", `"algorithm=MPIR_Bcast_intra_binomial"`, `"algorithm=MPIR_Bcast_intra_scatter_ring_allgather"`, "the file reaches"},
		{"unknown algorithm", "MPIR_Bcast_intra_binomial", "MPIR_Bcast_intra_binomials", "no such algorithm"},
		{"algorithm of another collective", "MPIR_Bcast_intra_binomial", "MPIR_Reduce_intra_binomial", "not an algorithm of bcast"},
		{"unknown condition", "comm_size<=", "comm_size>=", "no such condition"},
		{"collective missing", "collective=alltoallw", "collective=alltoallx", "is missing"},
		{"broken", "}", "", "not a selection tree"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			err := Verify([]byte(strings.ReplaceAll(good, tc.old, tc.new)), file.DeviceBytes(), plans, rows, lib, cat)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestGolden(t *testing.T) {
	lib, cat := embedded(t)
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
	plan, err := Fit(rows, lib, cat, selection.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file, err := Export([]Plan{plan}, lib, cat)
	if err != nil {
		t.Fatal(err)
	}
	env, err := file.Env("/home/me/my runs")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "bcast.json", file.Bytes())
	golden.Check(t, "bcast.ch4.json", file.DeviceBytes())
	golden.Check(t, "bcast.env", selection.EnvFile(env))
	if _, err := file.Env("runs"); err == nil {
		t.Error("relative path: no error")
	}
}

func TestWrite(t *testing.T) {
	lib, cat := embedded(t)
	file, err := Export([]Plan{always(coll.Bcast, coll.Algorithm{Name: "binomial"})}, lib, cat)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := file.Write(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil || !bytes.Equal(text, file.Bytes()) {
		t.Errorf("written file differs, or %v", err)
	}
	if err := file.Write(filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error = %v, want ErrNotExist", err)
	}
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
		if got := Size(p); got != tc.want {
			t.Errorf("Size(%v) = %d, want %d", p, got, tc.want)
		}
	}
	if got := Size(coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 1 << 40}); got != math.MaxInt32 {
		t.Errorf("size of 1 TiB = %d, want the largest int", got)
	}
}

// TestHugeSizes: whatever lies beyond a C int goes to the last band.
func TestHugeSizes(t *testing.T) {
	lib, cat := embedded(t)
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
	plan, err := Fit(rows, lib, cat, selection.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file, err := Export([]Plan{plan}, lib, cat)
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(file.Bytes(), file.DeviceBytes(), []Plan{plan}, rows, lib, cat); err != nil {
		t.Error(err)
	}
}

func ExampleReplay() {
	lib, err := csel.Embedded("4.0.2")
	if err != nil {
		fmt.Println(err)
		return
	}
	call := CallAt(coll.Point{Collective: coll.Bcast, Nodes: 16, PPN: 1, MsgBytes: 65536})
	fmt.Println(Replay(lib.Tree.Bytes(), call))
	// Output: MPIR_Bcast_intra_scatter_recursive_doubling_allgather <nil>
}

func FuzzReplay(f *testing.F) {
	lib, _ := embedded(f)
	f.Add(lib.Tree.Bytes())
	f.Add([]byte(`{"collective=bcast":{"comm_size<4":{"algorithm=x":{"k=2":{}}},"any":{}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		call := CallAt(coll.Point{Collective: coll.Bcast, Nodes: 3, PPN: 2, MsgBytes: 8})
		if alg, err := Replay(text, call); err == nil && alg.Name == "" {
			t.Fatalf("reached an algorithm without a name in\n%s", text)
		}
	})
}
