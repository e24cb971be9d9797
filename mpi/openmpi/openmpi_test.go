package openmpi

import (
	"math"
	"math/rand/v2"
	"path"
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

// TestBetweenGridPoints checks the rules at points that were not tuned: they must select the same algorithm
// as the selection.
func TestBetweenGridPoints(t *testing.T) {
	for _, version := range []string{"4.1.4", "6.0.x"} {
		b := build{release(t, version)}
		sel, x := mpilibrarytest.FitAndExport(t, b, mpilibrarytest.Rows(b.cat, 9, 0), mpi.MergeOptions{MaxLoss: 0.1})
		rng := rand.New(rand.NewPCG(10, 0))
		var rows []selection.Row
		for range 5000 {
			p := coll.Point{Collective: coll.Collectives()[rng.IntN(14)], Nodes: 1 + rng.IntN(30), PPN: 1}
			if p.Collective.Sized() {
				p.MsgBytes = int64(math.Exp2(rng.Float64() * 22))
			}
			rows = append(rows, selection.Row{Point: p})
		}
		if err := b.Replay(x, sel, rows); err != nil {
			t.Errorf("%s: %v", version, err)
		}
	}
}

// row returns a row of a bcast with the times of the named algorithms.
func row(l coll.Layout, size int64, names []string, seconds ...float64) selection.Row {
	r := selection.Row{Point: coll.Point{Collective: coll.Bcast, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: size}}
	for i, name := range names {
		alg, err := coll.ParseAlgorithm(name)
		if err != nil {
			panic(err)
		}
		r.Options = append(r.Options, selection.Option{Algorithm: alg, Seconds: seconds[i]})
	}
	return r
}

func TestGolden(t *testing.T) {
	rows := distributionRows()[:6] // without a layout of one node
	b := build{release(t, "4.1.4")}
	sel, x := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{MaxLoss: 0.01})
	for _, f := range x.Files {
		testutil.CheckGolden(t, path.Base(f.Name), f.Content)
	}
	x = testutil.Must(b.Export(sel, "/home/me/my runs"))(t)
	if d := cmp.Diff([]string{"openmpi.rules", "openmpi.env", "openmpi.csh", "layouts/2x6.rules", "layouts/12x1.rules"}, x.Names()); d != "" {
		t.Error(d)
	}
	snippet := testutil.Must(x.Setup.Shell())(t)
	testutil.CheckGolden(t, "layouts.env", snippet)
}

// TestSettings checks that the settings turn off the components above coll/tuned. They must not change the
// user's own list of components (OMPI_MCA_coll). They must not turn off coll/cuda, which serves buffers in
// device memory.
func TestSettings(t *testing.T) {
	for version, want := range map[string][]string{
		"4.1.4": forcing(fileVariable + "=/x"),
		"5.0.9": slices.DeleteFunc(forcing(fileVariable+"=/x", hanSwitch+"=1", hanVariable+"=/y"), func(v string) bool {
			return v == mcaPrefix+"coll_han_priority=0"
		}),
	} {
		b := build{release(t, version)}
		hanFile := ""
		if b.usesHan() {
			hanFile = "/y"
		}
		var got []string
		for _, s := range b.settings(nil, "/x", hanFile) {
			got = append(got, s.Name+"="+s.Value)
		}
		slices.Sort(want)
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", version, d)
		}
		snippet, err := b.files(bundle{}, "/dir").Setup.Shell()
		if text := string(snippet); err != nil || !strings.Contains(text, "# They turn off coll/hcoll, coll/ucc,") || strings.Contains(text, "coll/han stays on") != b.usesHan() {
			t.Errorf("%s: %v: the snippet does not say what it turns off:\n%s", version, err, snippet)
		}
	}
}

// crossing returns rows of four ranks. The algorithm "small" is the fastest for small messages, and the
// algorithm "large" for large ones. The fastest takes 1 second and the other 2 seconds. The default takes
// `factor` seconds.
func crossing(c coll.Collective, small, large string, factor float64) []selection.Row {
	var rows []selection.Row
	for size, seconds := range map[int64][2]float64{1: {1, 2}, 64: {1, 2}, 4096: {2, 1}, 65536: {2, 1}} {
		rows = append(rows, selection.Row{
			Point: coll.Point{Collective: c, Nodes: 1, PPN: 4, MsgBytes: size},
			Options: []selection.Option{
				{Algorithm: coll.Algorithm{Name: small}, Seconds: seconds[0]},
				{Algorithm: coll.Algorithm{Name: large}, Seconds: seconds[1]},
				{Algorithm: coll.Default, Seconds: factor},
			},
		})
	}
	return rows
}

// TestOneRowForAllSizes checks collectives whose ranks may compute different message sizes. They must have one
// rule for all sizes, with an algorithm that is never slower than the default. If there is no such algorithm,
// the rule must leave the choice to the library.
func TestOneRowForAllSizes(t *testing.T) {
	algorithms := map[coll.Collective][2]string{
		coll.Gather: {"binomial", "basic_linear"}, coll.Scatter: {"binomial", "basic_linear"}, coll.Allgatherv: {"bruck", "ring"},
	}
	for _, version := range []string{"4.1.4", "5.0.9", "6.0.x"} {
		for c, names := range algorithms {
			for factor, tuned := range map[float64]bool{1.5: false, 2.5: true} {
				b := build{release(t, version)}
				_, x := mpilibrarytest.FitAndExport(t, b, crossing(c, names[0], names[1], factor), mpi.MergeOptions{MaxLoss: 0.01})
				text := x.Loaded(coll.Layout{}, fileVariable)
				find := testutil.Must(b.reader(x, coll.Layout{}))(t)
				crashes := slices.ContainsFunc(x.Setup.Remarks, func(s string) bool { return strings.Contains(s, "MPI_DATATYPE_NULL") })
				if named := strings.Contains(string(text), string(c)); named != tuned || crashes != tuned {
					t.Errorf("%s %s, default at %g: named in the file: %t, warning of a crash: %t, want %t", version, c, factor, named, crashes, tuned)
				}
				p := coll.Point{Collective: c, Nodes: 1, PPN: 4}
				first := find(p)
				if (first.Algorithm != 0) != tuned {
					t.Errorf("%s %s, default at %g: %+v, want a rule: %t", version, c, factor, first, tuned)
				}
				for p.MsgBytes = 1; p.MsgBytes < 1<<31; p.MsgBytes *= 8 {
					if got := find(p); got != first {
						t.Errorf("%s %v: %+v, for other sizes %+v", version, p, got, first)
					}
				}
			}
		}
	}
}

// TestEmptyMessages checks that messages without bytes are left to the library. An allgather in place may look
// to Open MPI like an empty message.
func TestEmptyMessages(t *testing.T) {
	for _, version := range []string{"4.1.4", "6.0.x"} {
		b := build{release(t, version)}
		rows := mpilibrarytest.Rows(b.cat, 1, 1)
		for _, c := range coll.Collectives() {
			if c.Sized() && slices.Contains(numbers, c) {
				rows = append(rows, selection.Row{Point: coll.Point{Collective: c, Nodes: 1, PPN: 8}, Options: []selection.Option{
					{Algorithm: b.cat.Algorithms(c)[0], Seconds: 1}, {Algorithm: coll.Default, Seconds: 2},
				}})
			}
		}
		_, x := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{MaxLoss: 0.1})
		for _, l := range append(x.Setup.Layouts, mpi.LayoutSettings{}) {
			find := testutil.Must(b.reader(x, l.Layout))(t)
			for _, r := range rows {
				p := r.Point
				p.MsgBytes = 0
				if got := find(p); got != (rule{}) && sized(p.Collective) {
					t.Errorf("%s %v: %+v, want the library's decision", version, p, got)
				}
			}
		}
	}
}

func TestExportRefuses(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	b := build{release(t, "4.1.4")}
	for _, name := range []string{"smp", "binomial(k=2)", "pipeline(segsize=many)"} {
		rows := []selection.Row{row(coll.Layout{Nodes: 4, PPN: 1}, 64, []string{name}, 1)}
		sel := testutil.Must(b.Merge(rows, 0))(t)
		_, err := b.Export(sel, "/dir")
		golden(name, err)
	}
	_, err := b.Export(selection.Selection{}, "dir")
	golden("relative path", err)
}

// TestTwoRanks checks an algorithm that only works on two ranks. It must not be selected for more ranks, even if the
// next tuned number of ranks is much larger.
func TestTwoRanks(t *testing.T) {
	b := build{release(t, "4.1.4")}
	var rows []selection.Row
	for _, n := range []int{2, 18} { // the boundary is at 6
		r := selection.Row{Point: coll.Point{Collective: coll.Barrier, Nodes: n, PPN: 1}}
		r.Options = append(r.Options, selection.Option{Algorithm: coll.Algorithm{Name: "tree"}, Seconds: 2})
		if n == 2 {
			r.Options = append(r.Options, selection.Option{Algorithm: coll.Algorithm{Name: "two_proc"}, Seconds: 1})
		}
		rows = append(rows, r)
	}
	_, x := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{})
	back := testutil.Must(b.load(x.Loaded(coll.Layout{}, fileVariable)))(t)
	for n, want := range map[int]int{1: 0, 2: 5, 3: 0, 6: 0, 7: 6, 18: 6, 19: 0} {
		if got := back.choice(coll.Barrier, coll.Layout{Nodes: 1, PPN: n}, "", 0); got.Algorithm != want {
			t.Errorf("%d ranks: algorithm %d, want %d", n, got.Algorithm, want)
		}
	}
}

func TestReplayFindsWrongRules(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	b := build{release(t, "4.1.4")}
	rows := mpilibrarytest.Rows(b.cat, 1, 0)
	sel, _ := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{})
	rules := testutil.Must(b.bundle(sel))(t)
	rules.rules[0].Blocks[1].Rules[1].Algorithm++
	golden("changed algorithm", b.Replay(b.files(rules, "/dir"), sel, rows))
	rules.rules[0].Blocks[1].Rules[0].Size = 1
	golden("first size 1", b.Replay(b.files(rules, "/dir"), sel, rows), errSyntax)
}

func TestFind(t *testing.T) {
	rules := testutil.Must(build{release(t, "4.1.4")}.load([]byte(`1 7 # bcast
		2
		4 2   0 1 0 0   1000 2 3 512
		8 1   0 6 0 0`)))(t)
	tests := []struct {
		ranks int
		size  int64
		want  int
	}{
		{2, 0, 1}, {4, 999, 1}, {4, 1000, 2}, {7, 1 << 40, 2}, {8, 1, 6}, {1000, 1, 6},
	}
	for _, tc := range tests {
		if got := rules.choice(coll.Bcast, coll.Layout{Nodes: 1, PPN: tc.ranks}, "", tc.size); got.Algorithm != tc.want {
			t.Errorf("choice(%d, %d) = %v, want %d", tc.ranks, tc.size, got, tc.want)
		}
	}
	if _, ok := rules.find(coll.Reduce, coll.Layout{Nodes: 1, PPN: 4}, "", 0); ok {
		t.Error("rule found for a collective that is not in the file")
	}
}

func TestLoadErrors(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	tests := []struct{ name, text string }{
		{"empty", ""},
		{"cut off", "1\n7\n1\n4\n1\n0 1"},
		{"negative", "1 7 1 4 1 0 -1 0 0"},
		{"first size", "1 7 1 4 1 5 1 0 0"},
		{"unknown collective", "1 22 0"},
	}
	for _, tc := range tests {
		_, err := build{release(t, "4.1.4")}.load([]byte(tc.text))
		golden(tc.name, err, errSyntax)
	}
}

func FuzzClassic(f *testing.F) {
	f.Add([]byte("1 7 2 4 1 0 1 0 0 8 1 0 6 0 32 # end"))
	b := build{release(f, "4.1.4")}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := b.load(text)
		if err != nil {
			return
		}
		rules := testutil.Must(file.classic())(t)
		again := testutil.Must(testutil.Must(b.load(rules.Bytes()))(t).classic())(t)
		if d := cmp.Diff(rules, again); d != "" {
			t.Fatal(d)
		}
	})
}

func TestSize(t *testing.T) {
	tests := []struct {
		collective coll.Collective
		want       int64 // of 4 KiB on 3 nodes x 2
	}{
		{coll.Bcast, 4096}, {coll.Allreduce, 4096}, {coll.Reduce, 4096}, {coll.ReduceScatter, 4096},
		{coll.ReduceScatterBlock, 4096}, {coll.Allgather, 6 * 4096}, {coll.Alltoall, 6 * 4096},
		{coll.Gather, 0}, {coll.Scatter, 0}, {coll.Allgatherv, 0}, {coll.Alltoallv, 0}, {coll.Barrier, 0}, {coll.Scan, 0}, {coll.Exscan, 0},
	}
	for _, tc := range tests {
		p := coll.Point{Collective: tc.collective, Nodes: 3, PPN: 2, MsgBytes: 4096}
		if got := size(p); got != tc.want {
			t.Errorf("Size(%v) = %d, want %d", p, got, tc.want)
		}
	}
}

// distributionRows returns the rows of three layouts of twelve ranks with different best algorithms. Rules of
// 6.0 can distinguish two of them from all others.
func distributionRows() []selection.Row {
	names := []string{"binomial", "pipeline(segsize=8192)", "chain(faninout=4,segsize=1024)", coll.Default.Name}
	return []selection.Row{
		row(coll.Layout{Nodes: 3, PPN: 2}, 64, names, 1, 2, 3, 4),
		row(coll.Layout{Nodes: 3, PPN: 2}, 65536, names, 4, 1, 3, 4),
		row(coll.Layout{Nodes: 2, PPN: 6}, 64, names, 1, 2, 3, 4),
		row(coll.Layout{Nodes: 2, PPN: 6}, 65536, names, 3, 2, 1, 4),
		row(coll.Layout{Nodes: 12, PPN: 1}, 64, names, 1, 2, 3, 4),
		row(coll.Layout{Nodes: 12, PPN: 1}, 65536, names, 1, 1.5, 3, 4),
		row(coll.Layout{Nodes: 1, PPN: 12}, 64, names, 2, 2, 3, 1),
		row(coll.Layout{Nodes: 1, PPN: 12}, 65536, names, 2, 1.5, 3, 1),
	}
}

func TestJSONGolden(t *testing.T) {
	b := build{release(t, "6.0.x")}
	rows := distributionRows()
	sel, x := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{MaxLoss: 0.01})
	if d := cmp.Diff([]string{"openmpi.json", "openmpi.han", "openmpi.env", "openmpi.csh", "layouts/2x6.json", "layouts/2x6.han", "layouts/3x2.json", "layouts/3x2.han"}, x.Names()); d != "" {
		t.Error(d)
	}
	for _, f := range x.Files {
		testutil.CheckGolden(t, "newer."+path.Base(f.Name), f.Content)
	}
	x = testutil.Must(b.Export(sel, "/dir"))(t)
	snippet := testutil.Must(x.Setup.Shell())(t)
	testutil.CheckGolden(t, "newer.openmpi.env", snippet)
}

// around returns each of the given numbers together with its two neighbors, in ascending order.
func around(numbers ...int64) []int64 {
	var out []int64
	for _, n := range numbers {
		for d := int64(-1); d <= 1; d++ {
			if n+d >= 0 {
				out = append(out, n+d)
			}
		}
	}
	return out
}

// TestJSONSaysWhatTheRulesSay checks that JSON and classic rules select the same algorithm. It compares them at the
// bounds of the classic rules, and at the numbers next to each bound.
func TestJSONSaysWhatTheRulesSay(t *testing.T) {
	b := build{release(t, "6.0.x")}
	for seed := range uint64(3) {
		sel, x := mpilibrarytest.FitAndExport(t, b, mpilibrarytest.Rows(b.cat, seed, 0), mpi.MergeOptions{MaxLoss: 0.1})
		back := testutil.Must(b.load(x.Loaded(coll.Layout{}, fileVariable)))(t)
		rules := testutil.Must(b.bundle(sel))(t)
		rules.rules = withoutHan(rules.rules)
		for i, l := range rules.inCommonFile {
			rules.inCommonFile[i].rules = withoutHan(l.rules)
		}
		checked := 0
		for _, c := range rules.rules {
			for _, block := range c.Blocks {
				for _, n := range around(int64(block.Ranks)) {
					for _, l := range []coll.Layout{{Nodes: int(n), PPN: 1}, {Nodes: 1, PPN: int(n)}, {Nodes: int(n) / 2, PPN: 2}} {
						if l.Ranks() < 1 {
							continue
						}
						checked += sameRules(t, rules, back, c.Collective, l)
					}
				}
			}
		}
		if checked < 1000 {
			t.Errorf("only %d comparisons", checked)
		}
	}
}

// sameRules compares JSON and classic rules at every bound of message sizes. It returns the number of
// comparisons.
func sameRules(t *testing.T, all bundle, back *ruleFile, c coll.Collective, l coll.Layout) int {
	t.Helper()
	rules := all.rules
	for _, s := range all.inCommonFile {
		if s.layout == l {
			rules = s.rules
		}
	}
	checked := 0
	for _, x := range rules {
		if x.Collective != c {
			continue
		}
		for _, block := range x.Blocks {
			for _, r := range block.Rules {
				for _, size := range around(r.Size) {
					want := rules.Find(c, l.Ranks(), size)
					want.Size = 0
					if got := back.choice(c, l, "", size); got != want {
						t.Fatalf("%s %s %d B: %+v, want %+v", c, l, size, got, want)
					}
					checked++
				}
			}
		}
	}
	return checked
}

func TestJSONFirstMatch(t *testing.T) {
	rules := testutil.Must(build{release(t, "6.0.x")}.load([]byte(`{"rule_file_version":3,"module":"tuned","collectives":{"bcast":[
		{"comm_size_min":8,"comm_size_max":8,"comm_rank_distribution":"one-per-node","rules":[{"alg":"ignore"}]},
		{"comm_size_min":4,"comm_size_max":8,"comm_rank_distribution":"single-node","rules":[{"msg_size_min":10,"msg_size_max":20,"alg":"3"}]},
		{"comm_size_min":8,"rules":[{"msg_size_max":99,"alg":"binomial"},{"alg":"chain","faninout":2}]}]}}`)))(t)
	tests := []struct {
		nodes, ppn int
		size       int64
		want       int
	}{
		{8, 1, 5, 0}, {1, 8, 10, 3}, {1, 8, 20, 3}, {1, 8, 21, 0}, {1, 8, 9, 0}, {1, 4, 15, 3}, {2, 2, 15, 0}, {1, 3, 15, 0},
		{2, 4, 99, 6}, {2, 4, 100, 2}, {9, 1, 100, 2}, {1, 9, math.MaxInt64, 2}, // binomial, chain
	}
	for _, tc := range tests {
		if got := rules.choice(coll.Bcast, coll.Layout{Nodes: tc.nodes, PPN: tc.ppn}, "", tc.size); got.Algorithm != tc.want {
			t.Errorf("%dx%d %d B: %d, want %d", tc.nodes, tc.ppn, tc.size, got.Algorithm, tc.want)
		}
	}
}

func TestReplayFindsWrongJSON(t *testing.T) {
	b := build{release(t, "6.0.x")}
	rows := distributionRows()
	sel, _ := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{})
	rules := testutil.Must(b.bundle(sel))(t)
	rules.inCommonFile = nil // the layouts fall to the rules for everybody
	testutil.GoldenErrors(t)("no rules for layouts", b.Replay(b.files(rules, "/dir"), sel, rows))
}

// TestRadix checks that a rule of 6.0 contains the radix of its algorithm. An algorithm without its radix must
// not be exported, because it would never end.
func TestRadix(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	b := build{release(t, "6.0.x")}
	for c, name := range map[coll.Collective]string{coll.Allgather: "bruck-k-fanout", coll.Reduce: "knomial"} {
		var rows []selection.Row
		for _, a := range b.cat.Algorithms(c) {
			if a.Name == name {
				rows = append(rows, selection.Row{
					Point:   coll.Point{Collective: c, Nodes: 1, PPN: 4, MsgBytes: 64 << len(rows)},
					Options: []selection.Option{{Algorithm: a, Seconds: 1}},
				})
			}
		}
		_, x := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{})
		text := strings.Join(strings.Fields(string(x.Loaded(coll.Layout{}, fileVariable))), "")
		for _, radix := range []string{"2", "4", "8"} {
			if want := `"alg":"` + name + `","faninout":` + radix; !strings.Contains(text, want) {
				t.Errorf("no %s in\n%s", want, text)
			}
		}
		for _, radix := range []string{"", "(faninout=0)", "(faninout=1)"} {
			rows[0].Options[0].Algorithm = testutil.Must(coll.ParseAlgorithm(name + radix))(t)
			_, err := b.Export(testutil.Must(b.Merge(rows, 0))(t), "/dir")
			golden(name+radix, err, mpi.ErrUnknown)
		}
	}
}
