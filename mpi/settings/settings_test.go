package settings

import (
	"errors"
	"math"
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

// buildOf returns the build for a release of a library.
func buildOf(t testing.TB, name, version string) build {
	t.Helper()
	i := slices.IndexFunc(Libraries(), func(l mpi.Library) bool { return l.Facts().Name == name })
	l := Libraries()[i].(*library)
	return build{l, mpilibrarytest.Release(t, l, version)}
}

// first returns the first variable of a collective, or the zero variable.
func first(b build, c coll.Collective) variable {
	v, _ := b.variable(c)
	return v
}

func intel(t testing.TB) build   { return buildOf(t, "intel", "2019") }
func mvapich(t testing.TB) build { return buildOf(t, "mvapich2", "2.3") }

// row returns a row for a broadcast. Its options are two named algorithms and the default, with the given
// times in seconds.
func row(l coll.Layout, bytes int64, names [2]string, first, second, byDefault float64) selection.Row {
	return selection.Row{
		Point: coll.Point{Collective: coll.Bcast, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: bytes},
		Options: []selection.Option{
			{Algorithm: coll.Algorithm{Name: names[0]}, Seconds: first},
			{Algorithm: coll.Algorithm{Name: names[1]}, Seconds: second},
			{Algorithm: coll.Default, Seconds: byDefault},
		},
	}
}

func TestGolden(t *testing.T) {
	tests := []struct {
		build   build
		rows    []selection.Row
		maxLoss float64
	}{
		{intel(t), intelRows(), 0.01},
		{mvapich(t), mvapichRows(), 0.02},
	}
	for _, tc := range tests {
		_, x := mpilibrarytest.FitAndExport(t, tc.build, tc.rows, mpi.MergeOptions{MaxLoss: tc.maxLoss})
		snippet := testutil.Must(x.Setup.Shell())(t)
		testutil.CheckGolden(t, x.Snippet, snippet)
	}
}

func TestSize(t *testing.T) {
	tests := []struct {
		build      build
		collective coll.Collective
		want       int64 // of 4 KiB on 6 ranks
	}{
		{intel(t), coll.Bcast, 4096}, {intel(t), coll.Allreduce, 4096}, {intel(t), coll.Reduce, 4096},
		{intel(t), coll.ReduceScatter, 4096}, {intel(t), coll.Allgather, 4096}, {intel(t), coll.Alltoall, 4096},
		{intel(t), coll.Gather, 4096}, {intel(t), coll.Scatter, 4096}, {intel(t), coll.Allgatherv, 6 * 4096},
		{intel(t), coll.Alltoallv, 0}, {intel(t), coll.Barrier, 0},
		{mvapich(t), coll.Bcast, 4096}, {mvapich(t), coll.Scatter, 4096}, {mvapich(t), coll.Allgatherv, 6 * 4096}, {mvapich(t), coll.Barrier, 0},
	}
	for _, tc := range tests {
		p := coll.Point{Collective: tc.collective, Nodes: 3, PPN: 2, MsgBytes: 4096}
		if got := tc.build.lib.Size(p); got != tc.want {
			t.Errorf("%s: Size(%v) = %d, want %d", tc.build.cat.Library, p, got, tc.want)
		}
	}
	huge := coll.Point{Collective: coll.Bcast, Nodes: 3, PPN: 2, MsgBytes: 1 << 40}
	for _, b := range []build{intel(t), mvapich(t)} {
		if got := b.lib.Size(huge); got != math.MaxInt32-1 {
			t.Errorf("%s: Size of 1 TiB = %d", b.cat.Library, got)
		}
	}
}

// TestTableFaults checks that an invalid table is an error that names the row.
func TestTableFaults(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	const (
		columns    = "name,snippet,syntax,max_ranges,launcher_version,file_version\n"
		header     = "library,from,before,collective,algorithm,variable,value,range,bytes\n"
		good       = columns + "x,x.env,sizes,0,,\n"
		algorithms = "library,version,collective,algorithm,id,function,params,requires,op_safe\n"
		tree       = algorithms + "x,2.0,bcast,tree,7,,k,,yes\n"
	)
	for _, tc := range []struct{ name, libraries, variables, algorithms string }{
		{"syntax", columns + "x,x.env,files,0,,\n", header, tree},
		{"number", columns + "x,x.env,sizes,many,,\n", header, tree},
		{"regular expression", columns + "x,x.env,sizes,0,(,\n", header, tree},
		{"columns", columns + "x\n", header, tree},
		{"library twice", good + "x,y.env,sizes,0,,\n", header, tree},
		{"column of a library", strings.Replace(good, "syntax", "notation", 1), header, tree},
		{"collective", good, header + "x,,,broadcast,,X,,,message\n", tree},
		{"size", good, header + "x,,,bcast,,X,,,bits\n", tree},
		{"library", good, header + "y,,,bcast,,X,,,message\n", tree},
		{"release", good, header + "x,newest,,bcast,,X,,,message\n", tree},
		{"no release", good, header + "x,2.0,2.0,bcast,,X,,,message\n", tree},
		{"range", good, header + "x,,,bcast,,X,{k},2,message\n", tree},
		{"high end of a range", good, header + "x,,,bcast,,X,{k},0-many,message\n", tree},
		{"range without parameter", good, header + "x,,,bcast,,X,{id},2-64,message\n", tree},
		{"two parameters", good, header + "x,,,bcast,,X,{k}:{id},2-64,message\n", tree},
		{"parameter", good, header + "x,,,bcast,,X,{radix},2-64,message\n", tree},
		{"algorithm", good, header + "x,,,bcast,ring,X,1,,message\n", tree},
		{"variable", good, header + "x,,,bcast,,X=1,,,message\n", tree},
		{"row twice", good, header + "x,2.0,,bcast,,X,,,message\nx,,3.0,bcast,,X,,,message\n", tree},
		{"semicolons", good, strings.ReplaceAll(header, ",", ";"), tree},
		{"byte order mark", good, "\ufeff" + header, tree},
		{"missing column", good, strings.Replace(header, ",range", "", 1), tree},
		{"column twice", good, strings.Replace(header, "range", "value", 1), tree},
		{"empty", good, "", tree},
		{"open quote", good, header + "x,,,bcast,,\"X,,,message\n", tree},
		{"other library of algorithms", good, header, algorithms + "y,2.0,bcast,tree,7,,,,yes\n"},
		{"algorithms", good, header, algorithms + "x,newest,bcast,tree,7,,,,yes\n"},
	} {
		_, err := Read(tc.libraries, tc.variables, tc.algorithms)
		golden(tc.name, err)
	}
	rows := "bytes,range,library,from,before,collective,algorithm,variable,value\r\n" + // in any order
		"message,2-64,x,,2.0,bcast,,X,{k}\r\nmessage,2-64,x,2.0,,bcast,,X,{k}\r\n"
	testutil.Must(Read(good, rows, tree))(t)
}

// intelRows returns rows for three layouts. Two of the layouts have the same number of ranks but different
// best algorithms.
func intelRows() []selection.Row {
	names := [2]string{"binomial", "ring"}
	a, b, c := coll.Layout{Nodes: 2, PPN: 2}, coll.Layout{Nodes: 3, PPN: 4}, coll.Layout{Nodes: 12, PPN: 1}
	return []selection.Row{
		row(a, 64, names, 1, 2, 3), row(a, 65536, names, 2, 1, 3),
		row(b, 64, names, 1, 2, 3), row(b, 65536, names, 2, 3, 1),
		row(c, 64, names, 1, 2, 3), row(c, 65536, names, 3, 1, 2),
	}
}

// TestRankRulesFollowTree checks that the rules select the same algorithm as the tree. It tests every bound
// of ranks and sizes, and the numbers next to the bounds.
func TestRankRulesFollowTree(t *testing.T) {
	b := intel(t)
	for seed := range uint64(4) {
		sel, x := mpilibrarytest.FitAndExport(t, b, mpilibrarytest.Rows(b.cat, seed, 0), mpi.MergeOptions{MaxLoss: 0.1})
		checked := 0
		for _, tree := range sel.Trees {
			var rules rankRules
			for _, s := range x.Setup.Settings {
				if s.Name == first(b, tree.Collective).name {
					rules = testutil.Must(parseRankRules(s.Value))(t)
				}
			}
			checked += checkBounds(t, b, tree, rules)
		}
		if checked < 500 {
			t.Errorf("only %d comparisons", checked)
		}
	}
}

// checkBounds compares a tree with its rules at and around every bound. It returns the number of
// comparisons.
func checkBounds(t *testing.T, b build, tree *selection.Tree, rules rankRules) int {
	t.Helper()
	checked := 0
	for _, c := range tree.Comms {
		for _, band := range c.PPNs[0].Bands {
			for _, n := range []int{c.Low - 1, c.Low, c.Low + 1, c.High - 1, c.High, c.High + 1} {
				for _, bytes := range []int64{band.UpTo - 1, band.UpTo, band.UpTo + 1} {
					if n < 1 || bytes < 0 || bytes > 0 && first(b, tree.Collective).bytes == noSize {
						continue
					}
					want := 0
					if alg, _ := tree.Lookup(n, 1, bytes); !alg.IsDefault() {
						e := testutil.Must(b.cat.Lookup(tree.Collective, alg))(t)
						want = e.ID
					}
					if got := rules.find(n, bytes); got != want {
						t.Fatalf("%s, %d ranks, %d B: algorithm %d, want %d", tree.Collective, n, bytes, got, want)
					}
					checked++
				}
			}
		}
	}
	return checked
}

func TestRankRulesExportErrors(t *testing.T) {
	b := intel(t)
	rows := intelRows()
	rows[0].Options[0].Algorithm.Name = "smp"
	sel := testutil.Must(b.Merge(rows, 0))(t)
	if _, err := b.Export(sel, "/dir"); !errors.Is(err, mpi.ErrUnknown) {
		t.Errorf("unknown algorithm: %v", err)
	}
}

func TestRankRulesReplayErrors(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	b := intel(t)
	sel, x := mpilibrarytest.FitAndExport(t, b, intelRows(), mpi.MergeOptions{})
	x.Setup.Settings[0].Value = strings.Replace(x.Setup.Settings[0].Value, "1:", "2:", 1)
	golden("another algorithm", b.Replay(x, sel, intelRows()))
	x.Setup.Settings[0].Value = "1:x"
	golden("bad value", b.Replay(x, sel, intelRows()), errSyntax)
}

func TestParseRankRules(t *testing.T) {
	for _, text := range []string{"", ";", "1;", "x", "-1", "01", "1", "1:", "1:2-", "1:3-2@1-2", "1:2-3@4-3", "1:2-3@3@4", "1:2-3@1-2,", "1:1-2-3@1-2", "1:0-99999999999@1-2", "1:0-1@1-2 "} {
		if got, err := parseRankRules(text); !errors.Is(err, errSyntax) {
			t.Errorf("parseRankRules(%q) = %v, %v, want errSyntax", text, got, err)
		}
	}
}

// TestRankRulesString checks that String groups rules by algorithm, and that parsing returns them in this
// order.
func TestRankRulesString(t *testing.T) {
	all := rankRules{
		{id: 1, highBytes: 9, lowRanks: 2, highRanks: 4}, {id: 3, lowBytes: 10, highBytes: 20, lowRanks: 2, highRanks: 4},
		{id: 1, highBytes: 5, lowRanks: 5, highRanks: 9},
	}
	const want = "1:0-9@2-4,0-5@5-9;3:10-20@2-4"
	if got := all.String(); got != want {
		t.Errorf("String() = %s, want %s", got, want)
	}
	back := testutil.Must(parseRankRules(want))(t)
	if d := cmp.Diff(rankRules{all[0], all[2], all[1]}, back, cmp.AllowUnexported(rankRule{})); d != "" {
		t.Error(d)
	}
}

// TestSizeRangesLoss checks that no exported algorithm is slower than the best one by more than MaxLoss. The
// exported size ranges must select the same algorithms as the selection trees.
func TestSizeRangesLoss(t *testing.T) {
	b := mvapich(t)
	for seed := range uint64(4) {
		rows := mpilibrarytest.Rows(b.cat, seed, 0.6)
		sel, x := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{MaxLoss: 0.2})
		set := 0
		for _, r := range rows {
			alg, ok := sel.Select(r.Point)
			if !ok || alg.IsDefault() {
				continue
			}
			set++
			if loss, ok := r.Loss(alg); !ok || loss > 0.2 {
				t.Errorf("seed %d: %v: %v loses %g", seed, r.Point, alg, loss)
			}
		}
		if set == 0 {
			t.Errorf("seed %d: nothing is set", seed)
		}
		checkSizeRanges(t, b, x.Setup, sel)
	}
}

// checkSizeRanges checks that trees and the size ranges made from them select the same algorithms. It tests
// every bound, the numbers next to it, and sizes beyond the tuned ones.
func checkSizeRanges(t *testing.T, b build, s mpi.Setup, sel selection.Selection) {
	t.Helper()
	for _, l := range sel.Layouts {
		for i, tree := range l.Trees {
			ranges := testutil.Must(parseSizeRanges(s.For(l.Layout)[i].Value, 32))(t)
			bands := tree.Comms[0].PPNs[0].Bands
			for _, band := range bands {
				for _, bytes := range []int64{0, band.UpTo - 1, band.UpTo, band.UpTo + 1, math.MaxInt32 - 1} {
					alg, ok := tree.Lookup(l.Layout.Ranks(), 1, bytes)
					if !ok { // above the tuned sizes
						alg = bands[len(bands)-1].Algorithm
					}
					if alg.IsDefault() { // below the tuned sizes
						alg = bands[1].Algorithm
					}
					want := testutil.Must(b.cat.Lookup(tree.Collective, alg))(t)
					if got := ranges.find(bytes); bytes >= 0 && got != want.ID {
						t.Fatalf("%s %s %d B: algorithm %d, want %d", tree.Collective, l.Layout, bytes, got, want.ID)
					}
				}
			}
		}
	}
}

// mvapichRows returns rows for two layouts. On one of them the library's own choice is the best for large
// messages.
func mvapichRows() []selection.Row {
	names := [2]string{"binomial", "knomial"}
	a, b := coll.Layout{Nodes: 2, PPN: 2}, coll.Layout{Nodes: 4, PPN: 2}
	return []selection.Row{
		row(a, 64, names, 1, 2, 3), row(a, 65536, names, 2, 1.01, 1),
		row(b, 64, names, 1, 2, 3), row(b, 65536, names, 2, 1.5, 1),
	}
}

// TestSizeRangesLeftToLibrary checks that Merge leaves a collective to the library in two cases: it has no
// variable, or no value of the variable selects a good algorithm for every size.
func TestSizeRangesLeftToLibrary(t *testing.T) {
	b := mvapich(t)
	scans := mvapichRows()
	for i := range scans {
		scans[i].Point.Collective = coll.Scan
	}
	sizes := mvapichRows()[:2]
	for i := range sizes {
		sizes[i].Point.Collective, sizes[i].Point.MsgBytes = coll.Allreduce, int64(1+i)
		sizes[i].Options[2].Seconds = 1.5 // the default: either algorithm is slower than it at one of the sizes
	}
	for _, tc := range []struct {
		name    string
		rows    []selection.Row
		maxLoss float64
	}{
		{"the default is best at a size", mvapichRows(), 0.001},
		{"there is no variable", scans, 9},
		{"two sizes within one float need different algorithms", sizes, 0.02},
	} {
		sel, err := b.Merge(tc.rows, tc.maxLoss)
		if err != nil || len(sel.Layouts) != 0 {
			t.Errorf("%s: Merge = %v, %v, want no layout", tc.name, sel.Layouts, err)
		}
	}
}

func TestSizeRangesExportErrors(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	b := mvapich(t)
	rows := mvapichRows()
	rows[0].Options[0].Algorithm.Name = "smp"
	sel := testutil.Must(b.Merge(rows, 0.02))(t)
	_, err := b.Export(sel, "/dir")
	golden("unknown algorithm", err, mpi.ErrUnknown)
	common := testutil.Must(selection.MergeAll(mvapichRows(), b.lib.Size, selection.Options{}))(t)
	common.Layouts = []selection.LayoutTrees{{Layout: coll.Layout{Nodes: 2, PPN: 2}, Trees: common.Trees}}
	_, err = b.Export(common, "/dir")
	golden("a selection for all layouts", err)
}

func TestSizeRangesReplayErrors(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	b := mvapich(t)
	for _, value := range []string{"8:0-2048,1:2049-+", "1"} {
		sel, x := mpilibrarytest.FitAndExport(t, b, mvapichRows(), mpi.MergeOptions{MaxLoss: 0.02})
		x.Setup.Layouts[0].Settings[0].Value = value
		golden(value, b.Replay(x, sel, mvapichRows()))
		x.Setup.Layouts[0].Layout.Nodes = 4
		golden(value+" for another layout", b.Replay(x, sel, mvapichRows()))
	}
}

func TestParseSizeRanges(t *testing.T) {
	ranges := testutil.Must(parseSizeRanges("2:0-1024,1:1025-8192,3:8193-+", 32))(t)
	for size, want := range map[int64]int{0: 2, 1024: 2, 1025: 1, 8192: 1, 8193: 3, 1 << 40: 3} {
		if got := ranges.find(size); got != want {
			t.Errorf("find(%d) = %d, want %d", size, got, want)
		}
	}
	for _, text := range []string{
		"", "x", "-1", "01", "1:", "1:0-", "1:0-5", "1:1-+", "1:0-5,2:7-+", "1:0-+,2:6-+", "1:0-5,2:6-9", "1:0-5,", "1:5-4,2:5-+", "99999999999",
		strings.Repeat("1:0-1,", 32) + "1:2-+",
	} {
		if got, err := parseSizeRanges(text, 32); !errors.Is(err, errSyntax) {
			t.Errorf("parseSizeRanges(%q) = %v, %v, want errSyntax", text, got, err)
		}
	}
}
