package openmpi

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
	"tutti/selection"
)

// TestHan checks the files of a job on several nodes: coll/han passes on what the rules select, and no rules
// exist for the communicators of a node and of one rank on each node.
func TestHan(t *testing.T) {
	names := []string{"binomial", coll.Default.Name}
	var rows []selection.Row
	for _, l := range []coll.Layout{{Nodes: 1, PPN: 4}, {Nodes: 3, PPN: 1}, {Nodes: 3, PPN: 4}} {
		rows = append(rows, row(l, 64, names, 1, 2), row(l, 65536, names, 2, 1))
	}
	rows = append(rows, selection.Row{
		Point:   coll.Point{Collective: coll.Scan, Nodes: 3, PPN: 4, MsgBytes: 64},
		Options: []selection.Option{{Algorithm: coll.Algorithm{Name: "linear"}, Seconds: 1}},
	})
	b := build{release(t, "5.0.9")}
	sel, x := mpilibrarytest.FitAndExport(t, b, rows, mpi.FitOptions{})
	if d := cmp.Diff([]string{"openmpi.rules", "openmpi.han", "openmpi.env", "layouts/3x4.rules", "layouts/3x4.han"}, x.Names()); d != "" {
		t.Error(d)
	}
	testutil.CheckGolden(t, "3x4.han", x.Loaded(coll.Layout{Nodes: 3, PPN: 4}, hanVariable))
	own := testutil.Must(parse(x.Loaded(coll.Layout{Nodes: 3, PPN: 4}, fileVariable)))(t)
	common := testutil.Must(parse(x.Loaded(coll.Layout{}, fileVariable)))(t)
	for _, n := range []int{3, 4, 12} {
		got, _ := own.Find(coll.Bcast, n, 64)
		all, _ := common.Find(coll.Bcast, n, 64)
		if (got.Algorithm != 0) != (n == 12) || all.Algorithm == 0 {
			t.Errorf("%d ranks: %+v in the file of 3x4, %+v in the common file", n, got, all)
		}
	}
	i := slices.IndexFunc(x.Files, func(f mpi.File) bool { return f.Name == "layouts/3x4.han" })
	text := string(x.Files[i].Content)
	for changed, want := range map[string]string{
		strings.ReplaceAll(text, " han\n", " tuned\n"): "the file reaches",
		strings.ReplaceAll(text, " tuned\n", " han\n"): "the file reaches",
		text[:len(text)/2]: errSyntax.Error(),
	} {
		x.Files[i].Content = []byte(changed)
		if err := b.Replay(x, sel, rows); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q, for\n%s", err, want, changed)
		}
	}
}

// TestHanSizes checks that the bounds of coll/han, in bytes of one rank, agree with those of coll/tuned, in
// bytes of all ranks.
func TestHanSizes(t *testing.T) {
	c := classicCollective{Collective: coll.Allgather, Blocks: []classicBlock{
		{1, undecided()},
		{6, []rule{{}, {Size: 100, Algorithm: 3}, {Size: 3000}, {Size: 60000, Algorithm: 4}}},
		{49, undecided()},
	}}
	for _, exact := range []int{0, 6, 17, 48} {
		han := classicRules{{c.Collective, hanBlocks(c, exact)}}
		for ranks := 1; ranks < 60; ranks++ {
			for size := int64(0); size < 12000; size += 1 + size/50 {
				tuned, _ := classicRules{c}.Find(c.Collective, ranks, size*int64(ranks))
				pass, _ := han.Find(c.Collective, ranks, size)
				if pass.Algorithm != 0 && tuned.Algorithm == 0 || ranks == exact && (pass.Algorithm != 0) != (tuned.Algorithm != 0) {
					t.Fatalf("exact for %d: %d ranks, %d B each: coll/han passes to %d, coll/tuned has %+v", exact, ranks, size, pass.Algorithm, tuned)
				}
			}
		}
	}
	if _, err := parseHan([]byte("1\nbcast\n1 # level\nglobal_communicator\n1\n1\n1\n 5 tuned\n")); !errors.Is(err, errSyntax) {
		t.Errorf("first size 5: %v", err)
	}
}
