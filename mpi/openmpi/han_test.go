package openmpi

import (
	"errors"
	"maps"
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

// TestHan checks the files of a job on several nodes. In calls for which the rules select an algorithm, the
// component coll/han must forward the call to coll/tuned. coll/han itself creates communicators of the ranks of
// one node, and of one rank on each node. For these there must be no rules.
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
	sel, x := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{})
	if d := cmp.Diff([]string{"openmpi.rules", "openmpi.han", "openmpi.env", "openmpi.csh", "layouts/3x4.rules", "layouts/3x4.han"}, x.Names()); d != "" {
		t.Error(d)
	}
	testutil.CheckGolden(t, "3x4.han", x.Loaded(coll.Layout{Nodes: 3, PPN: 4}, hanVariable))
	own := testutil.Must(b.load(x.Loaded(coll.Layout{Nodes: 3, PPN: 4}, fileVariable)))(t)
	common := testutil.Must(b.load(x.Loaded(coll.Layout{}, fileVariable)))(t)
	for _, n := range []int{3, 4, 12} {
		got := own.choice(coll.Bcast, coll.Layout{Nodes: 1, PPN: n}, "", 64)
		all := common.choice(coll.Bcast, coll.Layout{Nodes: 1, PPN: n}, "", 64)
		if (got.Algorithm != 0) != (n == 12) || all.Algorithm == 0 {
			t.Errorf("%d ranks: %+v in the file of 3x4, %+v in the common file", n, got, all)
		}
	}
	i := slices.IndexFunc(x.Files, func(f mpi.File) bool { return f.Name == "layouts/3x4.han" })
	text := string(x.Files[i].Content)
	golden := testutil.GoldenErrors(t)
	for name, changed := range map[string]string{
		"tuned for han": strings.ReplaceAll(text, " han\n", " tuned\n"),
		"han for tuned": strings.ReplaceAll(text, " tuned\n", " han\n"),
		"cut off":       text[:len(text)/2],
	} {
		x.Files[i].Content = []byte(changed)
		golden(name, b.Replay(x, sel, rows))
	}
}

// TestHanSizes checks that the bounds of coll/han, in bytes of one rank, agree with those of coll/tuned, in
// bytes of all ranks.
func TestHanSizes(t *testing.T) {
	b := build{release(t, "5.0.9")}
	c := classicCollective{Collective: coll.Allgather, Blocks: []classicBlock{
		{1, undecided()},
		{6, []rule{{}, {Size: 100, Algorithm: 3}, {Size: 3000}, {Size: 60000, Algorithm: 4}}},
		{49, undecided()},
	}}
	for _, exact := range []int{0, 6, 17, 48} {
		file := hanFile{{c.Collective, []hanLevel{{global, hanBlocks(c, exact)}}}}
		han := testutil.Must(b.load(file.Bytes()))(t)
		if d := cmp.Diff(file, han.hanFile()); d != "" {
			t.Errorf("exact for %d: read back (-want +got):\n%s", exact, d)
		}
		for ranks := 1; ranks < 60; ranks++ {
			for size := int64(0); size < 12000; size += 1 + size/50 {
				tuned := classicRules{c}.Find(c.Collective, ranks, size*int64(ranks))
				pass := han.choice(c.Collective, coll.Layout{Nodes: 1, PPN: ranks}, global, size).Algorithm == componentTuned
				if pass && tuned.Algorithm == 0 || ranks == exact && pass != (tuned.Algorithm != 0) {
					t.Fatalf("exact for %d: %d ranks, %d B each: coll/han passes: %t, coll/tuned has %+v", exact, ranks, size, pass, tuned)
				}
			}
		}
	}
	if _, err := b.load([]byte("1\nbcast\n1 # level\nglobal_communicator\n1\n1\n1\n 5 tuned\n")); !errors.Is(err, errSyntax) {
		t.Errorf("first size 5: %v", err)
	}
}

// TestHanAlgorithms checks the files and settings that select algorithms of coll/han. There must be rules for the
// whole communicator and for its parts, and one segment size for each layout.
func TestHanAlgorithms(t *testing.T) {
	l := coll.Layout{Nodes: 3, PPN: 4}
	b := build{release(t, "5.0.9")}
	of := func(c coll.Collective, bytes int64, seconds map[string]float64) selection.Row {
		r := selection.Row{Point: coll.Point{Collective: c, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: bytes}}
		for _, name := range slices.Sorted(maps.Keys(seconds)) {
			r.Options = append(r.Options, selection.Option{Algorithm: mpilibrarytest.Algorithm(t, name), Seconds: seconds[name]})
		}
		return r
	}
	const basic, big, small, simple = "han_simple(inter=tuned,intra=basic)", "han(segsize=524288)", "han(segsize=8192)", "han_simple(inter=basic)"
	for _, tc := range []struct {
		name    string
		rows    []selection.Row
		want    []string
		setting string // of segments
	}{
		{"parts and segments", []selection.Row{
			of(coll.Bcast, 64, map[string]float64{basic: 1, "binomial": 2, "library_default": 3}),
			of(coll.Bcast, 4096, map[string]float64{basic: 2, "binomial": 1, "library_default": 3}),
			of(coll.Bcast, 65536, map[string]float64{big: 2, "library_default": 1}),
			of(coll.Bcast, 1<<20, map[string]float64{big: 1, small: 1.5, "binomial": 3, "library_default": 2}),
		}, []string{basic, "binomial", "library_default", big}, "524288"},
		{"other segments are slower than the default at a point", []selection.Row{
			of(coll.Bcast, 1<<20, map[string]float64{big: 1, "binomial": 3, "library_default": 2}),
			of(coll.Bcast, 4<<20, map[string]float64{big: 1.5, "binomial": 9, "library_default": 1}),
		}, []string{"library_default", "library_default"}, ""},
		{"parts of allreduce", []selection.Row{
			of(coll.Bcast, 64, map[string]float64{basic: 1, "binomial": 2, "library_default": 3}),
			of(coll.Allreduce, 64, map[string]float64{simple: 1, "library_default": 3}),
		}, []string{"binomial", simple}, ""},
		{"allreduce is faster without parts", []selection.Row{
			of(coll.Bcast, 64, map[string]float64{basic: 1, "binomial": 2, "library_default": 3}),
			of(coll.Allreduce, 64, map[string]float64{simple: 2, "library_default": 3, "recursive_doubling": 1}),
		}, []string{basic, "recursive_doubling"}, ""},
	} {
		sel, x := mpilibrarytest.FitAndExport(t, b, tc.rows, mpi.MergeOptions{})
		for i, r := range tc.rows {
			if alg, _ := sel.Select(r.Point); alg.String() != tc.want[i] {
				t.Errorf("%s: %v: %v is selected, want %s", tc.name, r.Point, alg, tc.want[i])
			}
		}
		got := ""
		for _, s := range x.Setup.For(l) {
			if s.Name == segmentVariable(coll.Bcast) {
				got = s.Value
			}
		}
		if got != tc.setting {
			t.Errorf("%s: segments of %q, want %q", tc.name, got, tc.setting)
		}
		if tc.name == "parts and segments" {
			testutil.CheckGolden(t, "parts.han", x.Loaded(l, hanVariable))
		}
	}
	if _, err := b.cat.Lookup(coll.Bcast, mpilibrarytest.Algorithm(t, "han_simple(inter=sm)")); !errors.Is(err, mpi.ErrUnknown) {
		t.Errorf("component sm: %v", err)
	}
}
